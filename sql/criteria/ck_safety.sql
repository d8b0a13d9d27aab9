-- How many people of each group share a sensitive value; the worst case depends on nothing else.
-- in: histogram (g, s, n_rows)    out: g, n_rows    grain: group, sensitive value
select
    g,
    n_rows
from {{ histogram }}
