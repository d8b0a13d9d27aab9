-- The combinations of the boxes that are not cut.
-- in: boxes (c, box), targets (box)    out: c, box    grain: combination and the columns told
select
    boxes.c,
    boxes.box
from {{ boxes }} as boxes
left join {{ targets }} as targets
    on boxes.box = targets.box
where targets.box is null
