-- How many groups one more column makes, and how many people are in small ones.
-- in: groups (g, the columns as codes, n_rows), column, least
-- out: n_groups, n_few (people in groups below least), n_done (groups that no column can split), n_done_few
-- grain: one row
with sizes as (
    select
        cast(sum(n_rows) as bigint) as n_people,
        count(*) as n_combinations
    from {{ groups }}
    group by
        g,
        {{ column }}
)
select
    cast(count(*) as bigint) as n_groups,
    cast(coalesce(sum(case when n_people < {{ least }} then n_people else 0 end), 0) as bigint) as n_few,
    cast(coalesce(sum(case when n_combinations = 1 then 1 else 0 end), 0) as bigint) as n_done,
    cast(coalesce(sum(
            case when n_combinations = 1 and n_people < {{ least }} then n_people else 0 end
        ), 0) as bigint) as n_done_few
from sizes
