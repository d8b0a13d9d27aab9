-- How many groups there are of each size.
-- in: published (g, n_rows as people)    out: n_people, n_groups    grain: size
with sizes as (
    select
        g,
        cast(sum(n_rows) as bigint) as n_people
    from {{ published }}
    group by g
)
select
    n_people,
    cast(count(*) as bigint) as n_groups
from sizes
group by n_people
