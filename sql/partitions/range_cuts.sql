-- The edge of a cut at the middle number of a range; the highest place always lies above.
-- in: cells (box, way, place, size), asked (box, way, ordered, middle, top)    out: box, way, edge    grain: box, way
select
    cells.box,
    cells.way,
    least(
        max(case when cells.size is null or cells.size <= asked.middle then cells.place end) + 1,
        max(asked.top)
    ) as edge
from {{ cells }} as cells
inner join {{ asked }} as asked
    on cells.box = asked.box
    and cells.way = asked.way
where asked.ordered = 1
group by
    cells.box,
    cells.way
