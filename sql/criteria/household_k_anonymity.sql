-- From how many households the people of each group are, and how many are from the largest.
-- in: households (g, s, n_rows)
-- out: n_households, n_people, n_largest, n_groups, g (one such group)    grain: kind of group (and group, by_group)
with measured as (
    select
        g,
        cast(count(*) as bigint) as n_households,
        cast(sum(n_rows) as bigint) as n_people,
        max(n_rows) as n_largest
    from {{ households }}
    group by g
)
select
    n_households,
    n_people,
    n_largest,
    cast(count(*) as bigint) as n_groups,
    min(g) as g
from measured
group by
    n_households,
    n_people,
    n_largest
    {% if by_group %},
    g
    {% endif %}
