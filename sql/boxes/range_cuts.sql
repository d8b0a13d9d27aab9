-- The edge of a cut at the middle of a range of numbers; the highest place is always above. Words count by their places.
-- in: cells (box, way, place), asked (box, way, ordered, middle, top), sizes [(way, relation (place, size))]
-- out: box, way, edge    grain: box, way
with low as (
    select
        cells.box,
        cells.way,
        cells.place,
        asked.top
    from {{ cells }} as cells
    inner join {{ asked }} as asked
        on cells.box = asked.box
        and cells.way = asked.way
    {% for way, relation in sizes %}
    left join {{ relation }} as s_{{ way }}
        on cells.way = {{ way }}
        and cells.place = s_{{ way }}.place
    {% endfor %}
    where
        asked.ordered = 1
        and (
            cells.place = 0
            or {% if sizes %}case cells.way
                {% for way, relation in sizes %}
                when {{ way }} then s_{{ way }}.size
                {% endfor %}
                else cast(cells.place as double)
            end{% else %}cast(cells.place as double){% endif %} <= asked.middle
        )
)
select
    box,
    way,
    least(max(place) + 1, max(top)) as edge
from low
group by
    box,
    way
