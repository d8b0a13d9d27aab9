-- The published rows where group and sensitive value determine a row; equal rows are counted together.
-- A code without a value is a missing one. The order is that of the published values, so it says nothing about the
-- order of the source.
-- in: histogram (g, s, n_rows), places (g, place, columns), values (code, value), shown [(name, alias)], counted (a name that
-- no column has)    out: the shown columns, counted    grain: group, sensitive value
select
    {% for name, alias in shown %}
    {% if alias == "s" %}v.value{% else %}places.{{ alias }}{% endif %} as {{ adapter.quote(name) }},
    {% endfor %}
    histogram.n_rows as {{ counted }}
from {{ histogram }} as histogram
inner join {{ places }} as places
    on histogram.g = places.g
{% if values is not none %}
left join {{ values }} as v
    on histogram.s = v.code
{% endif %}
order by
    places.place{% for name, alias in shown if alias == "s" %},
    {{ adapter.quote(name) }}{% endfor %}

