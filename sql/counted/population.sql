-- How many of the population fit each published group; the last line is for those who fit none.
-- in: groups (g, n_people), placed (g, n_rows), total (n_rows of the whole population)
-- out: g, n_people, n_population    grain: group
with fits as (
    select
        g,
        cast(sum(n_rows) as bigint) as n_population
    from {{ placed }}
    group by g
),
counted as (
    select
        t.g,
        t.n_people,
        coalesce(f.n_population, cast(0 as bigint)) as n_population
    from {{ groups }} as t
    left join fits as f
        on t.g = f.g
)
select
    g,
    n_people,
    n_population
from counted
union all
select
    null as g,
    cast(0 as bigint) as n_people,
    cast({{ total }} as bigint) - cast(sum(n_population) as bigint) as n_population
from counted
