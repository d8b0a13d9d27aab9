-- The columns of a published table of counts that matter for an attack.
-- in: published, columns, count    out: columns, n_rows    grain: cell
select
    {% for column in columns %}
    {{ adapter.quote(column) }},
    {% endfor %}
    cast(sum(cast({{ adapter.quote(count) }} as bigint)) as bigint) as n_rows
from {{ published }}
where cast({{ adapter.quote(count) }} as bigint) > 0
{% if columns %}
group by {{ privacy_sql.columns(columns) }}
{% endif %}
