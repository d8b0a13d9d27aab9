-- The axes all of whose values are numbers, so that boxes are cut by size along them.
-- in: axes (axis, is_number)    out: axis    grain: axis
select distinct axis
from {{ axes }}
where is_number = 1
