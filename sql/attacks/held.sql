-- The sensitive values that a release leaves possible for each combination of people, world by world. A group that shows
-- no value leaves one possibility: that there is none.
-- in: located (person, w, g), histogram (g, s), names (s, shared), valueless (the shared code of no value)
-- out: person, w, s (shared code)    grain: person, world, value
select distinct
    l.person,
    l.w,
    coalesce(v.shared, cast({{ valueless }} as bigint)) as s
from {{ located }} as l
left join (
    select
        h.g,
        n.shared
    from {{ histogram }} as h
    inner join {{ names }} as n
        on h.s = n.s
) as v
    on l.g = v.g
