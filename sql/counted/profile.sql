-- What is in one column, in counts: how many values it has, and what they look like.
-- in: source, column, value and words (what the steps call a value and its text)    grain: one row
-- out: n_rows, n_nulls, n_single (values of one row), n_top (rows of the most common), n_values, n_numbers (of the values),
--      n_whole, n_dates, n_other_dates (in another order than year, month, day), n_commas (numbers with a decimal comma),
--      n_phrases (of four words or more), low, high (of numbers), shortest, longest (of texts)
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
),
looked_at as (
    select
        n_rows,
        value,
        words,
        number,
        -- numbers are neither dates nor have a decimal comma, so most values need no second test
        case
            when value is null or number is not null then 0
            when {{ privacy_sql.recode_date(words, 'day') }} is not null then 1
            when {{ privacy_sql.matches(words, other_date) }} then 2
            when {{ privacy_sql.matches(words, comma) }} then 3
            else 0
        end as looks
    from read
)
select
    cast(coalesce(sum(n_rows), 0) as bigint) as n_rows,
    cast(coalesce(sum(case when value is null then n_rows else 0 end), 0) as bigint) as n_nulls,
    cast(coalesce(sum(case when value is not null and n_rows = 1 then 1 else 0 end), 0) as bigint) as n_single,
    cast(coalesce(max(n_rows), 0) as bigint) as n_top,
    cast(count(value) as bigint) as n_values,
    cast(count(number) as bigint) as n_numbers,
    cast(coalesce(sum(case when number = floor(number) then 1 else 0 end), 0) as bigint) as n_whole,
    cast(coalesce(sum(case when looks = 1 then 1 else 0 end), 0) as bigint) as n_dates,
    cast(coalesce(sum(case when looks = 2 then 1 else 0 end), 0) as bigint) as n_other_dates,
    cast(coalesce(sum(case when looks = 3 then 1 else 0 end), 0) as bigint) as n_commas,
    cast(coalesce(sum(case when length(words) - length(translate(words, ' ', '')) >= 3 then 1 else 0 end), 0) as bigint) as n_phrases,
    cast(min(number) as double) as low,
    cast(max(number) as double) as high,
    cast(coalesce(min(length(words)), 0) as bigint) as shortest,
    cast(coalesce(max(length(words)), 0) as bigint) as longest
from looked_at
