-- The smallest and largest number (or year) of a column, ignoring a few people at either end.
-- in: source, column, value (what the steps call a value), dates, few (people)    out: low, high    grain: one row
with found as (
    select
        {{ adapter.quote(column) }} as value,
        count(*) as n_rows
    from {{ source }}
    where {{ adapter.quote(column) }} is not null
    group by {{ adapter.quote(column) }}
),
read as (
    select
        n_rows,
        {% if dates %}
        cast(substr(cast(value as varchar), 1, 4) as double) as place
        {% else %}
        {{ privacy_sql.number(value) }} as place
        {% endif %}
    from found
),
places as (
    select
        place,
        cast(sum(n_rows) as bigint) as n_rows
    from read
    where place is not null
    group by place
),

placed as (
    select
        place,
        cast(sum(n_rows) over (order by place rows between unbounded preceding and current row) as bigint) as n_below,
        cast(sum(n_rows) over (order by place desc rows between unbounded preceding and current row) as bigint) as n_above
    from places
)
select
    cast(min(case when n_below > {{ few }} then place end) as double) as low,
    cast(max(case when n_above > {{ few }} then place end) as double) as high
from placed
