-- What is in one column, in counts.
-- in: source, column    out: n_rows, n_values, n_nulls, n_single    grain: one row
with found as (
    select
        {{ adapter.quote(column) }} as value,
        count(*) as n_rows
    from {{ source }}
    group by {{ adapter.quote(column) }}
)
select
    cast(coalesce(sum(n_rows), 0) as bigint) as n_rows,
    cast(count(value) as bigint) as n_values,
    cast(coalesce(sum(case when value is null then n_rows else 0 end), 0) as bigint) as n_nulls,
    cast(coalesce(sum(case when value is not null and n_rows = 1 then 1 else 0 end), 0) as bigint) as n_single
from found
