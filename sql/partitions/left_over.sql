-- The combinations of boxes that were not accepted.
-- in: placed (c, box), accepted (box)    out: c, box    grain: combination
select
    placed.c,
    placed.box
from {{ placed }} as placed
left join {{ accepted }} as accepted
    on placed.box = accepted.box
where accepted.box is null
