-- The labels of one level by code.
-- in: levels (code, l0..), codes (code, c0..), level    out: code, label    grain: label
select distinct
    codes.c{{ level }} as code,
    cast(levels.l{{ level }} as varchar) as label
from {{ levels }} as levels
inner join {{ codes }} as codes
    on levels.code = codes.code
