-- The nonsensitive cells of a marginal: the sensitive value summed out.
-- in: marginal (g, n_rows)    out: g, n_people    grain: nonsensitive cell
select
    g,
    cast(sum(n_rows) as bigint) as n_people
from {{ marginal }}
group by g
