-- The groups of a release that each combination of people fits in all columns.
-- in: fits (u, m), people (person, p1..), members (g, p1..), step (the last)    out: person, g    grain: person, group
select distinct
    u.person,
    m.g
from {{ fits }} as f
inner join {{ people }} as u
    on f.u = u.p{{ step }}
inner join {{ members }} as m
    on f.m = m.p{{ step }}
