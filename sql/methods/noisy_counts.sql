-- The published noisy table: every cell of every marginal, a column outside its marginal being `*`.
-- in: marginals [(number, cells (cell, noisy, fitted), columns [(name, domain, size) or (name, none, 1)])]
-- out: marginal, the columns, noisy_count, fitted_count    grain: marginal, cell
{% for number, cells, columns in marginals %}
select
    cast({{ number }} as bigint) as marginal,
    {% for name, domain, size in columns %}
    {% if domain is none %}
    cast('*' as varchar) as {{ adapter.quote(name) }},
    {% else %}
    d{{ loop.index }}.label as {{ adapter.quote(name) }},
    {% endif %}
    {% endfor %}
    n.noisy as noisy_count,
    n.fitted as fitted_count
from {{ cells }} as n
{% for name, domain, size in columns %}
{% if domain is not none %}
cross join {{ domain }} as d{{ loop.index }}
{% endif %}
{% endfor %}
where
    n.cell = cast(0 as bigint)
    {% for name, domain, size in columns %}
    {% if domain is not none %}
    + d{{ loop.index }}.place * {{ size }}
    {% endif %}
    {% endfor %}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
