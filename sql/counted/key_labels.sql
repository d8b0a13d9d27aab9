-- The labels of a column at one level.
-- in: levels (code, l0..), codes (code, c0..), level    out: code, value    grain: label
select distinct
    codes.c{{ level }} as code,
    cast(levels.l{{ level }} as varchar) as value
from {{ levels }} as levels
inner join {{ codes }} as codes
    on levels.code = codes.code
