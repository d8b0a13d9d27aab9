-- How many people share each group.
-- in: histogram (g, n_rows)    out: g, n_people    grain: group
select
    g,
    cast(sum(n_rows) as bigint) as n_people
from {{ histogram }}
group by g
