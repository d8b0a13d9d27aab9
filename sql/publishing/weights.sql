-- How many people of the population the people of each group represent, by their weights.
-- in: histogram (g, s, n_rows) of weights in codes, values (code, value) of the weights, groups (g, n_people), value, most
-- out: n_people, standing_for, n_bad (people whose weight is missing, not a number, below 1 or above the number of all people),
--      n_apart (people counted with several weights or with none), n_groups    grain: groups alike in both
with weights as (
    select
        code,
        {{ privacy_sql.number(value) }} as weight
    from {{ values }}
),
weighed as (
    select
        histogram.g,
        cast(sum(histogram.n_rows) as bigint) as n_weighed,
        cast(
            sum(
                case when weights.weight >= 1 and weights.weight <= {{ most }} then histogram.n_rows * weights.weight end
            ) as double
        ) as standing_for,
        -- a value that is not a number is neither above nor below
        cast(
            sum(case when weights.weight >= 1 and weights.weight <= {{ most }} then 0 else histogram.n_rows end)
            as bigint
        ) as n_bad
    from {{ histogram }} as histogram
    left join weights
        on histogram.s = weights.code
    group by histogram.g
)
select
    groups.n_people,
    weighed.standing_for,
    cast(sum(coalesce(weighed.n_bad, groups.n_people)) as bigint) as n_bad,
    cast(sum(abs(groups.n_people - coalesce(weighed.n_weighed, 0))) as bigint) as n_apart,
    cast(count(*) as bigint) as n_groups
from {{ groups }} as groups
left join weighed
    on groups.g = weighed.g
group by
    groups.n_people,
    weighed.standing_for
