-- How often each sensitive value occurs in the whole table.
-- in: histogram (s, n_rows)    out: s, n_rows    grain: sensitive value
select
    s,
    cast(sum(n_rows) as bigint) as n_rows
from {{ histogram }}
group by s
