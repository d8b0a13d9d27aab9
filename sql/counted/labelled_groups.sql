-- How many people share each combination of labels, with the sensitive value where it is among the columns.
-- in: candidate (g, columns, n_rows), columns    out: g, columns, n_rows    grain: group (and value)
select
    g,
    {{ privacy_sql.columns(columns) }},
    cast(sum(n_rows) as bigint) as n_rows
from {{ candidate }}
group by
    g,
    {{ privacy_sql.columns(columns) }}
