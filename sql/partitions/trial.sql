-- The parts as groups.
-- in: parts (c, box, part), numbers (box, part, g)    out: c, box, g    grain: combination
select
    parts.c,
    parts.box,
    numbers.g
from {{ parts }} as parts
inner join {{ numbers }} as numbers
    on parts.box = numbers.box
    and parts.part = numbers.part
