-- The distinct values of one column of the counted source, numbered; NULL is a value of its own with code 0.
-- in: counted (column, n_rows)    out: code, value, n_rows    grain: value
with found as (
    select
        {{ column }} as value,
        cast(sum(n_rows) as bigint) as n_rows
    from {{ counted }}
    group by {{ column }}
)
select
    case
        when value is null then cast(0 as bigint)
        else cast(row_number() over (order by value) as bigint)
    end as code,
    value,
    n_rows
from found
