-- The combinations of boxes whose split is accepted, in their new boxes.
-- in: trial (c, box, g), accepted (box), offset    out: c, box    grain: combination
select
    trial.c,
    trial.g + {{ offset }} as box
from {{ trial }} as trial
inner join {{ accepted }} as accepted
    on trial.box = accepted.box
