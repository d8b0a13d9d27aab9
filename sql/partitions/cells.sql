-- How many people each box holds at each place along each way it might be cut, and what is told of them.
-- in: boxes, asked (box, way), ways [(number, place, size)], sizes, relaxed, told, measures
-- out: box, way, place, [size], [c], told, measures    grain: box, way, place and what is told
with along as (
    select
        asked.box,
        asked.way,
        case asked.way
            {% for number, place, size in ways %}
            when {{ number }} then boxes.{{ place }}
            {% endfor %}
        end as place,
        {% if sizes %}
        -- words have no size: their places count as numbers
        case asked.way
            {% for number, place, size in ways %}
            when {{ number }} then {% if size is none %}cast(boxes.{{ place }} as double){% else %}boxes.{{ size }}{% endif %}

            {% endfor %}
        end as size,
        {% endif %}
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
    inner join {{ asked }} as asked
        on boxes.box = asked.box
)
select
    box,
    way,
    place,
    {% if sizes %}
    max(size) as size,
    {% endif %}
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
