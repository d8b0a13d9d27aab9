-- How many rows a counted relation represents, and how many it has.
-- in: counted (n_rows)    out: n_rows, n_combinations    grain: one row
select
    cast(coalesce(sum(n_rows), 0) as bigint) as n_rows,
    cast(count(*) as bigint) as n_combinations
from {{ counted }}
