-- The edge of the cut with the largest information gain about a class, the lowest of several. With f(n) = n ln n the gain is,
-- up to a constant, the sum of f over the counts of each class below and above, minus f of the people below and f of those
-- above. An edge is the first place above it, so it separates bands of places too. If banded, the start of the band below that
-- edge and the end of the one above, if these bands have to be refined.
-- in: cells (box, way, place, class, measure), asked (box, way, ordered, band), class, measure, fewest, banded
-- out: box, way, edge, or box, way, place, stop    grain: box, way
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
-- totals are joined, because some engines add up a window over a whole partition again for each of its rows
totals as (
    select
        box,
        way,
        class,
        cast(sum(n) as bigint) as n_class
    from counted
    group by
        box,
        way,
        class
),
everybody as (
    select
        totals.box,
        totals.way,
        max(asked.band) as band,
        cast(sum(totals.n_class) as double) as n_all
    from totals
    inner join {{ asked }} as asked
        on totals.box = asked.box
        and totals.way = asked.way
    group by
        totals.box,
        totals.way
),
running as (
    select
        counted.box,
        counted.way,
        counted.place,
        counted.n,
        cast(totals.n_class as double) as n_class,
        cast(
            sum(counted.n) over (
                partition by
                    counted.box,
                    counted.way,
                    counted.class
                order by counted.place
                rows between unbounded preceding and current row
            ) as double
        ) as below
    from counted
    inner join totals
        on counted.box = totals.box
        and counted.way = totals.way
        and counted.class = totals.class
),
-- what a place adds to both sums when it moves from above to below, in whole millionths of a nat: differences of whole
-- numbers have the same sum in any order, which is the last value
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
                            + (n_class - below) * ln(greatest(n_class - below, 1))
                        )
                    ) as bigint
                )
                - cast(
                    floor(
                        1000000 * (
                            (below - n) * ln(greatest(below - n, 1))
                            + (n_class - below + n) * ln(greatest(n_class - below + n, 1))
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
        n,
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
            sum(step) over (
                partition by
                    box,
                    way
                order by place
                rows between unbounded preceding and current row
            ) as bigint
        ) as told,
        lead(place) over (
            partition by
                box,
                way
            order by place
        ) as edge
    from steps
),
scored as (
    select
        sums.box,
        sums.way,
        sums.place,
        sums.edge,
        everybody.band,
        sums.told - cast(
            floor(
                1000000 * (
                    sums.below * ln(greatest(sums.below, 1))
                    + (everybody.n_all - sums.below) * ln(greatest(everybody.n_all - sums.below, 1))
                )
            ) as bigint
        ) as score
    from sums
    inner join everybody
        on sums.box = everybody.box
        and sums.way = everybody.way
    where
        sums.below >= {{ fewest }}
        and (
            everybody.n_all - sums.below >= {{ fewest }}
            {% if banded %}
            -- one band has all places that leave enough people on both sides
            or sums.below - sums.n < {{ fewest }}
            {% endif %}
        )
),
most as (
    select
        box,
        way,
        max(score) as score
    from scored
    group by
        box,
        way
),
best as (
    select
        scored.box,
        scored.way,
        {% if banded %}
        min(scored.place) as place,
        max(scored.band) as band,
        {% endif %}
        min(scored.edge) as edge
    from scored
    inner join most
        on scored.box = most.box
        and scored.way = most.way
        and scored.score = most.score
    group by
        scored.box,
        scored.way
)
select
    box,
    way,
    {% if banded %}
    place,
    coalesce(edge, place) + band as stop
    {% else %}
    edge
    {% endif %}

from best
{% if banded %}
where band > 1
{% endif %}
