-- Where a column begins and ends when the few people beyond are left out: a number, or the year of a date.
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
placed as (
    select
        place,
        sum(n_rows) over (
            order by place
            range between unbounded preceding and current row
        ) as n_below,
        sum(n_rows) over (
            order by place desc
            range between unbounded preceding and current row
        ) as n_above
    from read
    where place is not null
)
select
    cast(min(case when n_below > {{ few }} then place end) as double) as low,
    cast(max(case when n_above > {{ few }} then place end) as double) as high
from placed
