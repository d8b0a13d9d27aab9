-- The sum of n ln n over counts: all that a divergence needs from a marginal.
-- in: counts (n_rows)    out: n_log_n    grain: one row
select cast(sum(cast(n_rows as double) * ln(cast(n_rows as double))) as double) as n_log_n
from {{ counts }}
where n_rows > 0
