-- How many rows and values some columns have, to see whether values repeat.
-- in: rows, columns (name, their rows, their values)    out: n_first, the rows and values of each    grain: one row
select
    {% for name, n_rows, n_values in columns %}
    cast(count({{ adapter.quote(name) }}) as bigint) as {{ n_rows }},
    cast(count(distinct {{ adapter.quote(name) }}) as bigint) as {{ n_values }},
    {% endfor %}
    cast(count(*) as bigint) as n_first
from {{ rows }}
