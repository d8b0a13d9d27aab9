-- How many rows there are, and how many have the most common sensitive value.
-- in: values (code, value, n_rows)    out: n_rows, n_top    grain: one row
select
    cast(sum(n_rows) as bigint) as n_rows,
    max(n_rows) as n_top
from {{ values }}
