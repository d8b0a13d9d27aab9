-- The published rows, and those with the most common sensitive value of their group.
-- in: histogram (g, s, n_rows) of what is published, a value maybe in several rows    out: n_rows, n_top    grain: one row
with held as (
    select
        g,
        s,
        cast(sum(n_rows) as bigint) as n_rows
    from {{ histogram }}
    group by g, s
),

commonest as (
    select
        g,
        cast(sum(n_rows) as bigint) as n_rows,
        cast(max(n_rows) as bigint) as n_top
    from held
    group by g
)

select
    cast(coalesce(sum(n_rows), 0) as bigint) as n_rows,
    cast(coalesce(sum(n_top), 0) as bigint) as n_top
from commonest
