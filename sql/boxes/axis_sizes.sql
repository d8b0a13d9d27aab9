-- The number at every place of a numeric axis; NULL has none.
-- in: axis (code, place, size)    out: place, size    grain: place
select
    place,
    max(size) as size
from {{ axis }}
where place > 0
group by place
