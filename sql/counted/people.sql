-- Whether one row is one person.
-- in: source, identifier    out: n_rows, n_people, n_unnamed    grain: one row
select
    cast(count(*) as bigint) as n_rows,
    cast(count(distinct {{ adapter.quote(identifier) }}) as bigint) as n_people,
    cast(coalesce(sum(case when {{ adapter.quote(identifier) }} is null then 1 else 0 end), 0) as bigint) as n_unnamed
from {{ source }}
