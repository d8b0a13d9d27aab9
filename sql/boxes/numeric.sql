-- The axes with numbers only, along which boxes are cut by size.
-- in: axes (axis, is_number)    out: axis    grain: axis
select distinct axis
from {{ axes }}
where is_number = 1
