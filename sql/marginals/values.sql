-- The distinct values of a column that is published unchanged.
-- in: dictionary (code, value)    out: l0, c0    grain: value
select
    value as l0,
    code as c0
from {{ dictionary }}
