-- The distinct combinations of quasi-identifiers, numbered, with their place on every axis.
-- in: people (q1.., n_rows), axes [(column, axis, ordered, levels)]
-- out: c, q1.., x_q or y_q_0.., v_q, n_people    grain: combination of quasi-identifiers
with counted as (
    select
        {% for column, axis, ordered, levels in axes %}
        {{ column }},
        {% endfor %}
        cast(sum(n_rows) as bigint) as n_people
    from {{ people }}
    group by
        {% for column, axis, ordered, levels in axes %}
        {{ column }}{% if not loop.last %},{% endif %}

        {% endfor %}
)
select
    cast(
        row_number() over (
            order by
                {% for column, axis, ordered, levels in axes %}
                counted.{{ column }}{% if not loop.last %},{% endif %}

                {% endfor %}
        ) as bigint
    ) as c,
    {% for column, axis, ordered, levels in axes %}
    counted.{{ column }},
    {% if ordered %}
    a_{{ column }}.place as x_{{ column }},
    a_{{ column }}.size as v_{{ column }},
    {% else %}
    {% for level in range(levels) %}
    a_{{ column }}.c{{ level }} as y_{{ column }}_{{ level }},
    {% endfor %}
    {% endif %}
    {% endfor %}
    counted.n_people
from counted
{% for column, axis, ordered, levels in axes %}
inner join {{ axis }} as a_{{ column }}
    on counted.{{ column }} = a_{{ column }}.code
{% endfor %}
