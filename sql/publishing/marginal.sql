-- A published marginal in codes, as marginals/marginal.sql makes it from a base.
-- in: published, columns [(name, alias, labels (label, code))], own (aliases of its cells), count
-- out: g, aliases, n_rows    grain: cell of the marginal
with coded as (
    select
        {% for name, alias, labels in columns %}
        coalesce(d_{{ alias }}.code, cast(0 as bigint)) as {{ alias }},
        {% endfor %}
        cast(published.{{ adapter.quote(count) }} as bigint) as n_rows
    from {{ published }} as published
    {% for name, alias, labels in columns %}
    left join {{ labels }} as d_{{ alias }}
        on cast(published.{{ adapter.quote(name) }} as varchar) = d_{{ alias }}.label
    {% endfor %}
),
summed as (
    select
        {% for name, alias, labels in columns %}
        {{ alias }},
        {% endfor %}
        cast(sum(n_rows) as bigint) as n_rows
    from coded
    group by
        {% for name, alias, labels in columns %}
        {{ alias }}{% if not loop.last %},{% endif %}

        {% endfor %}
)
select
    {% if own %}
    cast(dense_rank() over (order by {{ privacy_sql.columns(own) }}) as bigint) as g,
    {% else %}
    cast(1 as bigint) as g,
    {% endif %}
    {% for name, alias, labels in columns %}
    {{ alias }},
    {% endfor %}
    n_rows
from summed
