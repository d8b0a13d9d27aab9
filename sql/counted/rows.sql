-- How many rows a relation holds.
-- in: relation    out: n_rows    grain: one row
select cast(count(*) as bigint) as n_rows
from {{ relation }}
