-- What is published of each box along an ordered axis: one value, a range, or * where NULL is among others.
-- in: final (c, g), combinations, axis (code, place), dictionary (code, value), column, numeric    out: g, label    grain: box
with reach as (
    select
        final.g,
        min(combinations.x_{{ column }}) as lo,
        max(combinations.x_{{ column }}) as hi
    from {{ final }} as final
    inner join {{ combinations }} as combinations
        on final.c = combinations.c
    group by final.g
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
    inner join {{ dictionary }} as d
        on axis.code = d.code
    group by axis.place
)
select
    reach.g,
    case
        when reach.lo = reach.hi then low.label
        when reach.lo = 0 then '*'
        {% if numeric %}
        when low.fraction + high.fraction = 0 then concat(low.label, '-', high.label)
        else concat('[', low.label, ', ', high.label, ']')
        {% else %}
        else concat(low.label, '..', high.label)
        {% endif %}
    end as label
from reach
inner join named as low
    on reach.lo = low.place
inner join named as high
    on reach.hi = high.place
