-- How many pairs of a person and a group are worlds of their own.
-- in: located (w)    out: n_pairs    grain: one row
select cast(coalesce(sum(case when w > 0 then 1 else 0 end), 0) as bigint) as n_pairs
from {{ located }}
