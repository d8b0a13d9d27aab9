-- The range of the numbers among a column's values.
-- in: readable (number)    out: spread (NULL when there are none)    grain: one row
select max(number) - min(number) as spread
from {{ readable }}
