-- How many people each box has at each place along each way it might be cut, with the columns `told`. If banded, a band
-- of places counts as its first place, and no band is split yet.
-- in: boxes, asked (box, way, band), ways [(number, place)], banded, relaxed, told, measures
-- out: box, way, place, [c], told, measures    grain: box, way, place and what is told
with along as (
    select
        asked.box,
        asked.way,
        {% if banded %}
        asked.band,
        {% endif %}
        case asked.way
            {% for number, place in ways %}
            when {{ number }} then boxes.{{ place }}
            {% endfor %}
        end as place,
        {% if relaxed and banded %}
        cast(0 as bigint) as c,
        {% elif relaxed %}
        boxes.c,
        {% endif %}
        {% for name in told %}
        boxes.{{ name }},
        {% endfor %}
        {% for measure in measures %}
        boxes.{{ measure }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from {{ boxes }} as boxes
    inner join {{ asked }} as asked
        on boxes.box = asked.box
){% if banded %},
counted as (
    select
        box,
        way,
        {{ privacy_sql.band_of() }} as place,
        {% if relaxed %}
        c,
        {% endif %}
        {% for name in told %}
        {{ name }},
        {% endfor %}
        {% for measure in measures %}
        {{ measure }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from along
)
{% endif %}

select
    box,
    way,
    place,
    {% if relaxed %}
    c,
    {% endif %}
    {% for name in told %}
    {{ name }},
    {% endfor %}
    {% for measure in measures %}
    cast(sum({{ measure }}) as bigint) as {{ measure }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {% if banded %}counted{% else %}along{% endif %}

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
