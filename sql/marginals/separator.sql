-- What two marginals share: a marginal summed up to the columns of its separator.
-- in: marginal (columns, n_rows), columns    out: columns, n_rows    grain: cell of the separator
select
    {% for column in columns %}
    {{ column }},
    {% endfor %}
    cast(sum(n_rows) as bigint) as n_rows
from {{ marginal }}
{% if columns %}
group by {{ privacy_sql.columns(columns) }}
{% endif %}
