-- The information in groups, values and both together: sums of n * ln(n), and the smallest group.
-- in: histogram (g, s, n_rows) and published (g, n_rows as people) of what is published
-- out: n_rows, by_value, by_group, by_both, smallest    grain: one row
with both_counted as (
    select
        g,
        s,
        cast(sum(n_rows) as bigint) as n_rows
    from {{ histogram }}
    group by
        g,
        s
),
counted as (
    select
        0 as way,
        n_rows
    from both_counted
    union all
    select
        1 as way,
        cast(sum(n_rows) as bigint) as n_rows
    from both_counted
    group by g
    union all
    select
        2 as way,
        cast(sum(n_rows) as bigint) as n_rows
    from both_counted
    group by s
),
weighed as (
    select
        way,
        n_rows,
        cast(n_rows as double) * ln(cast(n_rows as double)) as weight
    from counted
),
people as (
    select cast(sum(n_rows) as bigint) as n_people
    from {{ published }}
    group by g
),
least as (
    select cast(coalesce(min(n_people), 0) as bigint) as smallest
    from people
)
select
    cast(coalesce(sum(case when weighed.way = 0 then weighed.n_rows else 0 end), 0) as bigint) as n_rows,
    cast(coalesce(sum(case when weighed.way = 0 then weighed.weight else cast(0 as double) end), 0) as double) as by_both,
    cast(coalesce(sum(case when weighed.way = 1 then weighed.weight else cast(0 as double) end), 0) as double) as by_group,
    cast(coalesce(sum(case when weighed.way = 2 then weighed.weight else cast(0 as double) end), 0) as double) as by_value,
    max(least.smallest) as smallest
from least
left join weighed
    on 1 = 1
