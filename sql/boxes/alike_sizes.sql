-- How many boxes print what another one prints.
-- in: alike (g, lowest)    out: n_alike    grain: one row
select cast(coalesce(sum(case when g <> lowest then 1 else 0 end), 0) as bigint) as n_alike
from {{ alike }}
