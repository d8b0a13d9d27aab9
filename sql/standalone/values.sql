-- The sensitive values by the numbers that the histogram has for them.
-- in: keyed (value)    out: code, value    grain: sensitive value
select distinct
    dense_rank() over (order by value) as code,
    value
from {{ keyed }}
