-- Which values of two columns are the same: the same text or, where the other column has no such text, the same number,
-- date or truth value.
-- A missing value is an empty text where only one of the two occurs, since a CSV file writes both the same way.
-- in: theirs, ours (k = 1, code, exact, spelt, number)    out: code (of theirs), k (of ours), n_alike    grain: pair of values
with alike as (
    select
        p.code,
        o.code as k
    from {{ theirs }} as p
    inner join {{ ours }} as o
        on p.exact = o.exact
    union all
    select
        p.code,
        o.code as k
    from {{ theirs }} as p
    inner join {{ ours }} as o
        on p.k = o.k
    where
        p.exact is null
        and o.exact is null
),
missing as (
    select
        k,
        count(*) as n_ways
    from {{ theirs }}
    where coalesce(exact, '') = ''
    group by k
),
pairs as (
    select
        code,
        k
    from alike
    union all
    select
        p.code,
        o.code as k
    from {{ theirs }} as p
    inner join {{ ours }} as o
        on p.number = o.number or p.spelt = o.spelt
    left join alike
        on p.code = alike.code
    where alike.code is null
    union all
    -- somebody for whom only one of the two is known may be either
    select
        p.code,
        o.code as k
    from {{ theirs }} as p
    inner join {{ ours }} as o
        on p.k = o.k
    inner join missing
        on p.k = missing.k
    left join alike
        on p.code = alike.code
    where
        coalesce(p.exact, '') = ''
        and coalesce(o.exact, '') = ''
        and (alike.code is null or (missing.n_ways = 1 and alike.k != o.code))
)
select
    code,
    k,
    cast(count(*) over (partition by code) as bigint) as n_alike
from pairs
