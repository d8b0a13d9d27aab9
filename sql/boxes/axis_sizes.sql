-- The number at every place of a numeric axis; NULL has none.
-- in: axis (code, place, size)    out: place, size    grain: place
select
    axis.place,
    max(axis.size) as size
from {{ axis }} as axis
where axis.place > 0
group by axis.place
