-- The published rows, and those that hold the commonest sensitive value of their group.
-- in: histogram (g, s, n_rows) of what is published    out: n_rows, n_top    grain: one row
with commonest as (
    select
        g,
        cast(sum(n_rows) as bigint) as n_rows,
        max(n_rows) as n_top
    from {{ histogram }}
    group by g
)
select
    cast(coalesce(sum(n_rows), 0) as bigint) as n_rows,
    cast(coalesce(sum(n_top), 0) as bigint) as n_top
from commonest
