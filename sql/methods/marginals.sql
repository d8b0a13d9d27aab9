-- One published marginal: its columns at their levels, and at the coarser levels that other marginals show.
-- The order is that of the published values, so it says nothing about the order of the source.
-- in: marginal (codes, n_rows), shown [(name, column, labels (code, label))]    out: names, n_rows    grain: cell
select
    {% for name, column, labels in shown %}
    l_{{ column }}.label as {{ adapter.quote(name) }},
    {% endfor %}
    marginal.n_rows
from {{ marginal }} as marginal
{% for name, column, labels in shown %}
inner join {{ labels }} as l_{{ column }}
    on marginal.{{ column }} = l_{{ column }}.code
{% endfor %}
order by
    {% for name, column, labels in shown %}
    {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endfor %}
