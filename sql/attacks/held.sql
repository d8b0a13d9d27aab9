-- The sensitive values a release leaves possible for each combination of people.
-- in: located (person, g), histogram (g, s), names (s, shared)    out: person, s (shared code)    grain: person, value
select distinct
    l.person,
    n.shared as s
from {{ located }} as l
inner join {{ histogram }} as h
    on l.g = h.g
inner join {{ names }} as n
    on h.s = n.s
