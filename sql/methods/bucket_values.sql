-- The second table of a bucketization: which sensitive values a group holds, and how often.
-- in: rows (g, s), sensitive, group_id, counted: the names of the columns
-- out: group number, value, count    grain: group, sensitive value
with counted as (
    select
        g,
        s,
        cast(count(*) as bigint) as n_rows
    from {{ rows }}
    group by
        g,
        s
)
select
    cast(dense_rank() over (order by g) as bigint) as {{ adapter.quote(group_id) }},
    s as {{ adapter.quote(sensitive) }},
    n_rows as {{ adapter.quote(counted) }}
from counted
order by
    {{ adapter.quote(group_id) }},
    {{ adapter.quote(counted) }} desc,
    {{ adapter.quote(sensitive) }}
