-- The edge of the cut that tells most about a class. With f(n) = n ln n its gain is, but for what all edges share, the sum
-- of f over the counts of each class below and above, less f of the people below and f of those above.
-- in: cells (box, way, place, class, measure), asked (box, way, ordered), class, measure, fewest    out: box, way, edge    grain: box, way
with counted as (
    select
        cells.box,
        cells.way,
        cells.place,
        cells.{{ class }} as class,
        cast(sum(cells.{{ measure }}) as bigint) as n
    from {{ cells }} as cells
    inner join {{ asked }} as asked
        on cells.box = asked.box
        and cells.way = asked.way
    where
        asked.ordered = 1
        and cells.{{ class }} is not null
    group by
        cells.box,
        cells.way,
        cells.place,
        cells.{{ class }}
),
running as (
    select
        box,
        way,
        place,
        n,
        cast(
            sum(n) over (
                partition by
                    box,
                    way,
                    class
                order by place
                rows between unbounded preceding and current row
            ) as double
        ) as below,
        cast(
            sum(n) over (
                partition by
                    box,
                    way,
                    class
            ) as double
        ) as n_all
    from counted
),
-- what a place adds to both sums when it changes from above to below, in whole millionths of a nat: sums of whole numbers
-- are the same in any order
steps as (
    select
        box,
        way,
        place,
        cast(sum(n) as bigint) as n,
        cast(
            sum(
                cast(
                    floor(
                        1000000 * (
                            below * ln(greatest(below, 1))
                            - (below - n) * ln(greatest(below - n, 1))
                            + (n_all - below) * ln(greatest(n_all - below, 1))
                            - (n_all - below + n) * ln(greatest(n_all - below + n, 1))
                        )
                    ) as bigint
                )
            ) as bigint
        ) as step
    from running
    group by
        box,
        way,
        place
),
sums as (
    select
        box,
        way,
        place,
        cast(
            sum(n) over (
                partition by
                    box,
                    way
                order by place
                rows between unbounded preceding and current row
            ) as double
        ) as below,
        cast(
            sum(n) over (
                partition by
                    box,
                    way
            ) as double
        ) as n_all,
        cast(
            sum(step) over (
                partition by
                    box,
                    way
                order by place
                rows between unbounded preceding and current row
            ) as bigint
        ) as told
    from steps
),
ranked as (
    select
        box,
        way,
        place,
        row_number() over (
            partition by
                box,
                way
            order by
                told - cast(
                    floor(
                        1000000 * (
                            below * ln(greatest(below, 1))
                            + (n_all - below) * ln(greatest(n_all - below, 1))
                        )
                    ) as bigint
                ) desc,
                place
        ) as choice
    from sums
    where
        below >= {{ fewest }}
        and n_all - below >= {{ fewest }}
)
select
    box,
    way,
    place + 1 as edge
from ranked
where choice = 1
