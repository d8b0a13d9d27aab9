-- How many groups there are of each size.
-- in: groups (g, n_people)    out: n_people, n_groups, g (one such group)    grain: size (and group, by_group)
select
    n_people,
    cast(count(*) as bigint) as n_groups,
    min(g) as g
from {{ groups }}
group by
    n_people
    {% if by_group %},
    g
    {% endif %}
