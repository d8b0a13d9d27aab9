-- What the values of one column look like, in counts: enough to propose a role and a hierarchy.
-- in: source, column, value and words (what the steps call a value and its text)    grain: one row
-- out: n_rows, n_values, n_nulls, n_numbers (values), n_whole, n_dates, n_commas (numbers with a decimal comma),
--      n_other_dates (dates in another order than year, month, day), low, high (of numbers), shortest, longest (of texts)
{% set comma -%}
'^ *[+-]?([0-9]{1,40}|[0-9]{1,3}([.][0-9]{3}){1,12}),[0-9]{1,40} *[|]$'
{%- endset %}
{% set other_date -%}
'^(((0?[1-9]|[12][0-9]|3[01])[./-]){2}([0-9]{2}|[0-9]{4})|[0-9]{4}[./-][0-9]{1,2}[./-][0-9]{1,2})([ T,].*)?[|]$'
{%- endset %}
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
    cast(count({{ privacy_sql.recode_date(words, 'day') }}) as bigint) as n_dates,
    cast(count(case when {{ privacy_sql.matches(words, comma) }} then 1 end) as bigint) as n_commas,
    cast(count(
            case
                when
                    {{ privacy_sql.matches(words, other_date) }}
                    and {{ privacy_sql.recode_date(words, 'day') }} is null
                    then 1
            end
        ) as bigint) as n_other_dates,
    cast(min(number) as double) as low,
    cast(max(number) as double) as high,
    cast(coalesce(min(length(words)), 0) as bigint) as shortest,
    cast(coalesce(max(length(words)), 0) as bigint) as longest
from read
