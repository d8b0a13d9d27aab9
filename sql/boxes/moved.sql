-- Everybody in the boxes that are cut, with their new boxes.
-- in: boxes (c, box, columns), targets, ways [(number, place)], columns, relaxed    out: c, box, columns    grain: as boxes
with along as (
    select
        boxes.c,
        targets.ordered,
        targets.lowest,
        targets.edge,
        {% if relaxed %}
        targets.edge_c,
        {% endif %}
        case targets.way
            {% for number, place in ways %}
            when {{ number }} then boxes.{{ place }}
            {% endfor %}
        end as place,
        {% for column in columns %}
        boxes.{{ column }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from {{ boxes }} as boxes
    inner join {{ targets }} as targets
        on boxes.box = targets.box
)
select
    c,
    lowest + {{ privacy_sql.part_of(relaxed) }} as box,
    {% for column in columns %}
    {{ column }}{% if not loop.last %},{% endif %}

    {% endfor %}
from along
