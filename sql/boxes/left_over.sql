-- The combinations of boxes that stay as they are.
-- in: boxes (c, box), targets (box)    out: c, box    grain: combination and what is told of it
select
    boxes.c,
    boxes.box
from {{ boxes }} as boxes
left join {{ targets }} as targets
    on boxes.box = targets.box
where targets.box is null
