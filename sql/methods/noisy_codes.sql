-- The place of each value of a column in its public domain; values outside the domain have no place.
-- in: labels (code, label), domain (place, label)    out: code, place    grain: value
select
    l.code,
    min(d.place) as place
from {{ labels }} as l
left join {{ domain }} as d
    on
    cast(l.label as varchar) = d.label
    or (l.label is null and d.label is null)
group by l.code
