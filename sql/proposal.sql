-- What the values of one column look like, in counts: enough to propose a role and a hierarchy.
-- in: source, column    grain: one row
-- out: n_rows, n_values, n_nulls, n_numbers (values), n_whole, n_dates, low, high (of numbers), shortest, longest (of texts)
with found as (
    select
        {{ adapter.quote(column) }} as value,
        count(*) as n_rows
    from {{ source }}
    group by {{ adapter.quote(column) }}
),
read as (
    select
        n_rows,
        value,
        trim(cast(value as varchar)) as words,
        {{ privacy_sql.number(value) }} as number
    from found
)
select
    cast(coalesce(sum(n_rows), 0) as bigint) as n_rows,
    cast(count(value) as bigint) as n_values,
    cast(coalesce(sum(case when value is null then n_rows else 0 end), 0) as bigint) as n_nulls,
    cast(count(number) as bigint) as n_numbers,
    cast(coalesce(sum(case when number = floor(number) then 1 else 0 end), 0) as bigint) as n_whole,
    cast(
        coalesce(
            sum(case when substring(words, 5, 1) = '-' and substring(words, 8, 1) = '-' then 1 else 0 end), 0
        ) as bigint
    ) as n_dates,
    cast(min(number) as double) as low,
    cast(max(number) as double) as high,
    cast(coalesce(min(length(words)), 0) as bigint) as shortest,
    cast(coalesce(max(length(words)), 0) as bigint) as longest
from read
