-- How many people of each group have at least one sensitive value.
-- in: members (g, columns), counted (columns, n_rows), columns    out: g, n_rows    grain: group with such people
with placed as (
    select distinct
        {% for column in columns %}
        {{ column }},
        {% endfor %}
        g
    from {{ members }}
)
select
    placed.g,
    cast(sum(counted.n_rows) as bigint) as n_rows
from placed
inner join {{ counted }} as counted
    on
    {% for column in columns %}
    placed.{{ column }} = counted.{{ column }}{% if not loop.last %} and{% endif %}

    {% else %}
    1 = 1
    {% endfor %}
group by placed.g
