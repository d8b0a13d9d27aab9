-- What is published of each box along an ordered axis: one value, a range, or * where NULL is among others.
-- in: reach (box, lo, hi), axis (code, place), dictionary (code, value), column, numeric    out: g, label    grain: box
with ends as (
    select lo_{{ column }} as place
    from {{ reach }}
    union
    select hi_{{ column }} as place
    from {{ reach }}
),
named as (
    select
        axis.place,
        min(cast(d.value as varchar)) as label
        {% if numeric %},
        max(case when axis.size = floor(axis.size) then 0 else 1 end) as fraction
        {% else %},
        0 as fraction
        {% endif %}

    from {{ axis }} as axis
    inner join ends
        on axis.place = ends.place
    inner join {{ dictionary }} as d
        on axis.code = d.code
    group by axis.place
)
select
    reach.box as g,
    case
        when reach.lo_{{ column }} = reach.hi_{{ column }} then low.label
        when reach.lo_{{ column }} = 0 then '*'
        {% if numeric %}
        when low.fraction + high.fraction = 0 then concat(low.label, '-', high.label)
        else concat('[', low.label, ', ', high.label, ']')
        {% else %}
        else concat(low.label, '..', high.label)
        {% endif %}
    end as label
from {{ reach }} as reach
inner join named as low
    on reach.lo_{{ column }} = low.place
inner join named as high
    on reach.hi_{{ column }} = high.place
