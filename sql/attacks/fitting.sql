-- The groups of a release that each combination of people fits in all columns, and how well.
-- in: fits (u, m, tier), people (person, p1..), members (g, p1..), step (the last)
-- out: person, g, tier    grain: person, group
select
    u.person,
    m.g,
    min(f.tier) as tier
from {{ fits }} as f
inner join {{ people }} as u
    on f.u = u.p{{ step }}
inner join {{ members }} as m
    on f.m = m.p{{ step }}
group by
    u.person,
    m.g
