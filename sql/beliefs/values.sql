-- The values behind the codes of a column.
-- in: dictionary (code, value)    out: code, value    grain: value
select
    code,
    value
from {{ dictionary }}
order by code
