-- How often the most common watched value occurs in the groups.
-- in: histogram (g, s, n_rows), groups (g, n_people), values (code, value), watched (value) or none
-- out: n_people, n_top, n_found (watched values that occur), n_groups, g (one such group)
-- grain: size and count (and group, by_group)
with
{% if watched is defined %}
codes as (
    select v.code
    from {{ values }} as v
    inner join {{ watched }} as w
        on cast(v.value as varchar) = w.value
),
{% else %}
codes as (
    select code
    from {{ values }}
),
{% endif %}
found as (
    select cast(count(*) as bigint) as n_found
    from codes
),
tops as (
    select
        h.g,
        max(h.n_rows) as n_top
    from {{ histogram }} as h
    inner join codes as c
        on h.s = c.code
    group by h.g
)
select
    p.n_people,
    coalesce(t.n_top, 0) as n_top,
    max(f.n_found) as n_found,
    cast(count(*) as bigint) as n_groups,
    min(p.g) as g
from {{ groups }} as p
left join tops as t
    on p.g = t.g
cross join found as f
group by
    p.n_people,
    coalesce(t.n_top, 0)
    {% if by_group %},
    p.g
    {% endif %}
