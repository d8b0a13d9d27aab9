-- The counted combinations that earlier rounds of a recoding have not published.
-- in: counted (columns, s, n_rows), plan, places [(column, column of the plan)], columns, sensitive
-- out: columns, s, n_rows    grain: as counted
select
    {% for column in columns %}
    counted.{{ column }},
    {% endfor %}
    {% if sensitive %}
    counted.s,
    {% endif %}
    counted.n_rows
from {{ counted }} as counted
left join {{ plan }} as plan
    on
    {% for column, place in places %}
    counted.{{ column }} = plan.{{ place }}
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
where plan.round is null
