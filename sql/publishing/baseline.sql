-- How sure a reader is who guesses the most common value of every group.
-- in: histogram (g, s, n_rows), members (g, n_rows as people) where a person may have several values or none
-- out: n_people, n_top (people with the most common value), n_groups    grain: groups alike in both
with tops as (
    select
        g,
        cast(sum(n_rows) as bigint) as n_people,
        cast(max(n_rows) as bigint) as n_top
    from {{ histogram }}
    group by g
)
{% if members is not none %},
sizes as (
    select
        g,
        cast(sum(n_rows) as bigint) as n_people
    from {{ members }}
    group by g
)
select
    sizes.n_people,
    coalesce(tops.n_top, cast(0 as bigint)) as n_top,
    cast(count(*) as bigint) as n_groups
from sizes
left join tops
    on sizes.g = tops.g
group by
    sizes.n_people,
    coalesce(tops.n_top, cast(0 as bigint))
{% else %}
select
    n_people,
    n_top,
    cast(count(*) as bigint) as n_groups
from tops
group by
    n_people,
    n_top
{% endif %}
