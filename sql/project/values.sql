-- The values of one column, for the file of a hierarchy that a person fills in.
-- in: source, column, most    out: value    grain: value, at most so many
with found as (
    select
        {{ adapter.quote(column) }} as value,
        row_number() over (order by {{ adapter.quote(column) }}) as place
    from {{ source }}
    where {{ adapter.quote(column) }} is not null
    group by {{ adapter.quote(column) }}
)
select cast(value as varchar) as value
from found
where place <= {{ most }}
order by place
