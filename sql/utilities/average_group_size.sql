-- The published groups and the people in them.
-- in: published (g, n_rows as people)    out: n_people, n_groups    grain: one row
select
    cast(coalesce(sum(n_rows), 0) as bigint) as n_people,
    cast(count(distinct g) as bigint) as n_groups
from {{ published }}
