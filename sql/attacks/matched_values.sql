-- The values of each group, when people and values were published in two tables that share group numbers.
-- in: histogram (g, s) and its names (g, value), names of the people's groups (g, value)
-- out: g (of the people's groups), s    grain: group, value
select
    p.g,
    h.s
from {{ histogram }} as h
inner join {{ names }} as v
    on h.g = v.g
inner join {{ people }} as p
    on cast(v.value as varchar) = cast(p.value as varchar)
