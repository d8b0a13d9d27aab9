-- How far each open box reaches along every axis.
-- in: boxes (box, places, n_people), axes [(column, ordered, numeric, levels)]    out: box, n_people, least and most    grain: box
select
    box,
    {% for column, ordered, numeric, levels in axes %}
    {% if ordered %}
    min(x_{{ column }}) as lo_{{ column }},
    max(x_{{ column }}) as hi_{{ column }},
    {% if numeric %}
    min(v_{{ column }}) as from_{{ column }},
    max(v_{{ column }}) as to_{{ column }},
    {% endif %}
    {% else %}
    {% for level in range(levels) %}
    min(y_{{ column }}_{{ level }}) as lo_{{ column }}_{{ level }},
    max(y_{{ column }}_{{ level }}) as hi_{{ column }}_{{ level }},
    {% endfor %}
    {% endif %}
    {% endfor %}
    cast(sum(n_people) as bigint) as n_people
from {{ boxes }}
group by box
order by box
