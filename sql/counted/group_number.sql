-- The number of a group: its place among all groups, in the order of their keys.
-- in: groups (g)    out: number, n_groups    grain: one row
select
    cast(coalesce(sum(case when g <= {{ group }} then 1 else 0 end), 0) as bigint) as number,
    cast(count(*) as bigint) as n_groups
from {{ groups }}
