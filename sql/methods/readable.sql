-- A dictionary's values as text and, where they are numbers, as numbers.
-- in: dictionary (code, value), value    out: code, exact, number    grain: value
select
    code,
    cast(value as varchar) as exact,
    {{ privacy_sql.number(value) }} as number
from {{ dictionary }}
