-- How far each open box reaches along every axis; the numbers at its ends are looked up, so that boxes store places only.
-- in: boxes (box, places, n_people), axes [(column, ordered, sizes, nulls, levels)]    out: box, n_people, least and most
-- grain: box
with reach as (
    select
        box,
        {% for column, ordered, sizes, nulls, levels in axes %}
        {% if ordered %}
        min(x_{{ column }}) as lo_{{ column }},
        max(x_{{ column }}) as hi_{{ column }},
        {% if nulls %}
        min(case when x_{{ column }} > 0 then x_{{ column }} end) as least_{{ column }},
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
)
select
    reach.box,
    {% for column, ordered, sizes, nulls, levels in axes %}
    {% if ordered %}
    reach.lo_{{ column }},
    reach.hi_{{ column }},
    {% if sizes is not none %}
    low_{{ column }}.size as from_{{ column }},
    high_{{ column }}.size as to_{{ column }},
    {% endif %}
    {% else %}
    {% for level in range(levels) %}
    reach.lo_{{ column }}_{{ level }},
    reach.hi_{{ column }}_{{ level }},
    {% endfor %}
    {% endif %}
    {% endfor %}
    reach.n_people
from reach
{% for column, ordered, sizes, nulls, levels in axes %}
{% if sizes is not none %}
left join {{ sizes }} as low_{{ column }}
    on reach.{% if nulls %}least{% else %}lo{% endif %}_{{ column }} = low_{{ column }}.place
left join {{ sizes }} as high_{{ column }}
    on reach.hi_{{ column }} = high_{{ column }}.place
{% endif %}
{% endfor %}
order by reach.box
