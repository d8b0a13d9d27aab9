-- What each group publishes.
-- in: histogram (g, s, n_rows)    out: g, s, n_rows    grain: group, sensitive value
select
    g,
    s,
    n_rows
from {{ histogram }}
order by
    g,
    s
