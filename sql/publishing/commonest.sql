-- How many people have the most common sensitive value, and how many people there are.
-- in: overall (s, n_rows)    out: n_top, n_people    grain: one row
select
    cast(max(n_rows) as bigint) as n_top,
    cast(sum(n_rows) as bigint) as n_people
from {{ overall }}
