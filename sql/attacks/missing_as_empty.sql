-- The missing value of a column as empty text, because a CSV file writes both the same way.
-- in: dictionary (code, value, n_rows)    out: code, value, n_rows    grain: one row, or none
select
    code,
    cast('' as varchar) as value,
    n_rows
from {{ dictionary }}
where value is null
