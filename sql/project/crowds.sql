-- How many groups there are, and how many people stand in small ones.
-- in: groups (g, n_rows), least    out: n_groups, n_few (people in groups below least)    grain: one row
with sizes as (
    select
        g,
        cast(sum(n_rows) as bigint) as n_people
    from {{ groups }}
    group by g
)
select
    cast(count(*) as bigint) as n_groups,
    cast(coalesce(sum(case when n_people < {{ least }} then n_people else 0 end), 0) as bigint) as n_few
from sizes
