-- The most rows any person has.
-- in: source, identifier    out: most    grain: one row
with counted as (
    select
        {{ adapter.quote(identifier) }} as person,
        count(*) as n_rows
    from {{ source }}
    group by {{ adapter.quote(identifier) }}
)
select cast(coalesce(max(n_rows), 0) as bigint) as most
from counted
