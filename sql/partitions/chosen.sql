-- The place of every combination along the axis its box is to be cut on.
-- in: placed (c, box), combinations, asked (box, axis, level, middle), axes [(number, column, ordered, levels)]
-- out: c, box, ordered, place, size, middle, n_people    grain: combination of an asked box
select
    placed.c,
    placed.box,
    asked.middle,
    case
        when asked.axis is null then 0
        {% for number, column, ordered, levels in axes %}
        {% if ordered %}
        when asked.axis = {{ number }} then 1
        {% endif %}
        {% endfor %}
        else 0
    end as ordered,
    case
        {% for number, column, ordered, levels in axes %}
        {% if ordered %}
        when asked.axis = {{ number }} then combinations.x_{{ column }}
        {% else %}
        {% for level in range(levels) %}
        when asked.axis = {{ number }} and asked.level = {{ level }} then combinations.y_{{ column }}_{{ level }}
        {% endfor %}
        {% endif %}
        {% endfor %}
    end as place,
    case
        when asked.axis is null then cast(null as double)
        {% for number, column, ordered, levels in axes %}
        {% if ordered %}
        when asked.axis = {{ number }} then combinations.v_{{ column }}
        {% endif %}
        {% endfor %}
        else cast(null as double)
    end as size,
    combinations.n_people
from {{ placed }} as placed
inner join {{ asked }} as asked
    on placed.box = asked.box
inner join {{ combinations }} as combinations
    on placed.c = combinations.c
