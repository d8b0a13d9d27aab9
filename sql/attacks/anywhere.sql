-- Every group of a release as a world of its own, for people of whom its labels do not say where they are. More than `most`
-- worlds are too many to try, so further groups change nothing.
-- in: people (person), groups (g), most    out: person, w, g    grain: person, group
with numbered as (
    select
        g,
        row_number() over (order by g) as place
    from {{ groups }}
)
select
    p.person,
    n.g + 1 as w,
    n.g
from {{ people }} as p
cross join numbered as n
where n.place <= {{ most }} + 1
