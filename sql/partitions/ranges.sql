-- How far each open box reaches along every axis.
-- in: placed (c, box), combinations, axes [(column, ordered, levels)]    out: box, n_people, least and most    grain: box
select
    placed.box,
    {% for column, ordered, levels in axes %}
    {% if ordered %}
    min(combinations.x_{{ column }}) as lo_{{ column }},
    max(combinations.x_{{ column }}) as hi_{{ column }},
    min(combinations.v_{{ column }}) as from_{{ column }},
    max(combinations.v_{{ column }}) as to_{{ column }},
    {% else %}
    {% for level in range(levels) %}
    min(combinations.y_{{ column }}_{{ level }}) as lo_{{ column }}_{{ level }},
    max(combinations.y_{{ column }}_{{ level }}) as hi_{{ column }}_{{ level }},
    {% endfor %}
    {% endif %}
    {% endfor %}
    cast(sum(combinations.n_people) as bigint) as n_people
from {{ placed }} as placed
inner join {{ combinations }} as combinations
    on placed.c = combinations.c
group by placed.box
order by placed.box
