-- What is left of counted combinations when some groups are suppressed.
-- in: counted (g, columns, n_rows), failing (g), columns    out: g, columns, n_rows    grain: as counted
select
    counted.g,
    {% for column in columns %}
    counted.{{ column }},
    {% endfor %}
    counted.n_rows
from {{ counted }} as counted
left join {{ failing }} as failing
    on counted.g = failing.g
where failing.g is null
