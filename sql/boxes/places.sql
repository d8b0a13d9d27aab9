-- Everybody in one box, or in one for each combination of some columns, with the places of every combination.
-- in: apart [the columns], counted [(relation (g, q1.., s, n_rows), told, measure)], axes [(column, axis, ordered, levels)], told, measures
-- out: c, box, x_q or y_q_0.., told, measures    grain: combination and what is told of it
with everybody as (
    {% for relation, its, its_measure in counted %}
    select
        g as c,
        {% for column, axis, ordered, levels in axes %}
        {{ column }},
        {% endfor %}
        {% for name in told %}
        {% if name == its %}
        s as {{ name }},
        {% else %}
        cast(null as bigint) as {{ name }},
        {% endif %}
        {% endfor %}
        {% for measure in measures %}
        {% if measure == its_measure %}
        n_rows as {{ measure }}{% if not loop.last %},{% endif %}

        {% else %}
        cast(0 as bigint) as {{ measure }}{% if not loop.last %},{% endif %}

        {% endif %}
        {% endfor %}
    from {{ relation }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
)
select
    everybody.c,
    {% if apart %}
    cast(
        dense_rank() over (
            order by
                {% for column in apart %}
                everybody.{{ column }}{% if not loop.last %},{% endif %}

                {% endfor %}
        ) - 1 as bigint
    ) as box,
    {% else %}
    cast(0 as bigint) as box,
    {% endif %}
    {% for column, axis, ordered, levels in axes %}
    {% if ordered %}
    a_{{ column }}.place as x_{{ column }},
    {% else %}
    {% for level in range(levels) %}
    cast(a_{{ column }}.c{{ level }} as int) as y_{{ column }}_{{ level }},
    {% endfor %}
    {% endif %}
    {% endfor %}
    {% for name in told %}
    everybody.{{ name }},
    {% endfor %}
    {% for measure in measures %}
    everybody.{{ measure }}{% if not loop.last %},{% endif %}

    {% endfor %}
from everybody
{% for column, axis, ordered, levels in axes %}
inner join {{ axis }} as a_{{ column }}
    on everybody.{{ column }} = a_{{ column }}.code
{% endfor %}
