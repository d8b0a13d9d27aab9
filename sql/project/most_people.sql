-- The most people who have the same value of a column, a missing one being a value, and all people.
-- in: source, identifier, column    out: n_top, n_people    grain: one row
with shared as (
    select count(distinct {{ adapter.quote(identifier) }}) as n_people
    from {{ source }}
    group by {{ adapter.quote(column) }}
)
select
    cast(max(n_people) as bigint) as n_top,
    cast((select count(distinct {{ adapter.quote(identifier) }}) from {{ source }}) as bigint) as n_people
from shared
