-- Counts of bands of places, the band in which a median lies told place by place.
-- in: cells by band, middles (box, way, place, band), boxes, ways [(number, place)], relaxed, told, measures
-- out: box, way, place, [c], told, measures    grain: box, way, place (or band) and what is told
with along as (
    select
        boxes.box,
        middles.way,
        middles.place as first_place,
        middles.band,
        case middles.way
            {% for number, place in ways %}
            when {{ number }} then boxes.{{ place }}
            {% endfor %}
        end as place,
        {% if relaxed %}
        boxes.c,
        {% endif %}
        {% for name in told %}
        boxes.{{ name }},
        {% endfor %}
        {% for measure in measures %}
        boxes.{{ measure }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from {{ boxes }} as boxes
    inner join {{ middles }} as middles
        on boxes.box = middles.box
)
select
    cells.box,
    cells.way,
    cells.place,
    {% if relaxed %}
    cells.c,
    {% endif %}
    {% for name in told %}
    cells.{{ name }},
    {% endfor %}
    {% for measure in measures %}
    cells.{{ measure }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ cells }} as cells
left join {{ middles }} as middles
    on cells.box = middles.box
    and cells.way = middles.way
    and cells.place = middles.place
where middles.box is null
union all
select
    box,
    way,
    cast(place as bigint) as place,
    {% if relaxed %}
    c,
    {% endif %}
    {% for name in told %}
    {{ name }},
    {% endfor %}
    {% for measure in measures %}
    cast(sum({{ measure }}) as bigint) as {{ measure }}{% if not loop.last %},{% endif %}

    {% endfor %}
from along
where
    place >= first_place
    and place < first_place + band
group by
    box,
    way,
    {% if relaxed %}
    c,
    {% endif %}
    {% for name in told %}
    {{ name }},
    {% endfor %}
    place
