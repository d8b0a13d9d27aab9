-- Every published marginal in one relation; a column that a marginal does not show is NULL there.
-- in: parts [(number, relation, names it has)], columns    out: marginal, columns, n_rows    grain: published cell
{% for number, relation, has in parts %}
select
    cast({{ number }} as bigint) as marginal,
    {% for name in columns %}
    {% if name in has %}
    cast({{ adapter.quote(name) }} as varchar)
    {%- else %}
    cast(null as varchar)
    {%- endif %} as {{ adapter.quote(name) }},
    {% endfor %}
    n_rows
from {{ relation }}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
order by
    marginal,
    {% for name in columns %}
    {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endfor %}
