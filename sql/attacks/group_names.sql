-- The names a release gives its groups.
-- in: candidate (g, grp), dictionary (code, value)    out: g, value    grain: group
select distinct
    c.g,
    d.value
from {{ candidate }} as c
inner join {{ dictionary }} as d
    on c.grp = d.code
