-- The values of a column as numbers, and the length of their text.
-- in: values (code, value), value    out: code, number (0 if not a number), is_number, length    grain: value
select
    v.code,
    coalesce({{ privacy_sql.number(value) }}, cast(0 as double)) as number,
    case when {{ privacy_sql.number(value) }} is null then 0 else 1 end as is_number,
    cast(coalesce(length(cast({{ value }} as varchar)), 0) as bigint) as length
from {{ values }} as v
