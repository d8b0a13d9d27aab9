-- Rows whose multiplicity is missing, negative or not a whole number.
-- in: source, counted (a column of the user)    out: n_rows    grain: one row
with numbered as (
    select {{ privacy_sql.number(adapter.quote(counted)) }} as number
    from {{ source }}
)
select
    cast(
        coalesce(
            sum(case when number >= 0 and number = floor(number) and number < 1000000000000000 then 0 else 1 end), 0
        ) as bigint
    ) as n_rows
from numbered
