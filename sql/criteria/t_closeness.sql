-- How far the sensitive values of the groups lie from those of the whole table, in integers:
-- distance = difference / (scale * n_people * n_all); where that product outgrows a bigint, as a double.
-- in: histogram (g, s, n_rows), groups (g, n_people), overall (s, n_rows), values (code, value), distance,
--     sensitive_codes (code, c0..) and sensitive_height when hierarchical
-- out: n_people, n_all, scale, difference (NULL where it may outgrow a bigint), far (the distance as a double, NULL
--      where values have no order and the difference is known),
--      n_stray (values that are not numbers, when ordered), n_blurred (numbers that are one double), g
-- grain: the farthest group of each size (every group, by_group)
-- NULLS FIRST is written where nothing is NULL, because BigQuery has no other order there.
{% macro fitting() %}
fitting as (
    select
        e.scale,
        case
            when
                cast(t.n_all as double) * cast(t.n_all as double) * cast(2 * e.scale + 2 as double)
                < 4000000000000000000
                then 1
            else 0
        end as fits
    from ends as e
    cross join total as t
)
{% endmacro %}
{% set levels = sensitive_height if distance == "hierarchical" else 1 %}
with total as (
    select cast(sum(n_rows) as bigint) as n_all
    from {{ overall }}
),
{% if distance == "ordered" %}
numbered as (
    select
        o.s,
        o.n_rows,
        {{ privacy_sql.number(value) }} as number,
        cast(length(cast({{ value }} as varchar)) as bigint) as length
    from {{ overall }} as o
    inner join {{ values }} as v
        on o.s = v.code
),
stray as (
    select cast(sum(case when number is null then 1 else 0 end) as bigint) as n_stray
    from numbered
),
-- 9007199254740993 and 9007199254740992 are one double, so they would wrongly share a place
alike as (
    select
        cast(count(*) as bigint) as n_values,
        max(length) as length
    from numbered
    where number is not null
    group by number
),
blurred as (
    select cast(coalesce(sum(n_values), 0) as bigint) as n_blurred
    from alike
    where
        n_values > 1
        and length > 15
),
placed as (
    select
        s,
        n_rows,
        cast(dense_rank() over (order by number) as bigint) - 1 as place
    from numbered
    where number is not null
),
line as (
    select
        place,
        cast(sum(n_rows) as bigint) as n_rows
    from placed
    group by place
),
-- rows of the table up to each place, and the running sum of those sums
cumulated as (
    select
        place,
        cast(sum(n_rows) over (order by place nulls first rows between unbounded preceding and current row) as bigint) as upto
    from line
),
summed as (
    select
        place,
        upto,
        cast(sum(upto) over (order by place nulls first rows between unbounded preceding and current row) as bigint) as running
    from cumulated
),
edges as (
    select
        cast(0 as bigint) as place,
        cast(0 as bigint) as running
    union all
    select
        place + 1 as place,
        running
    from summed
),
ends as (
    select
        cast(count(*) as bigint) as n_places,
        greatest(cast(count(*) as bigint) - 1, 1) as scale
    from line
),
{{ fitting() }},
shown as (
    select
        h.g,
        p.place,
        cast(sum(h.n_rows) as bigint) as n_rows
    from {{ histogram }} as h
    inner join placed as p
        on h.s = p.s
    group by
        h.g,
        p.place
),
-- between two places that a group shows, its own cumulative count is constant
steps as (
    select
        g,
        place as low,
        min(place) over (partition by g order by place nulls first rows between 1 following and 1 following) as high,
        cast(
            sum(n_rows) over (partition by g order by place nulls first rows between unbounded preceding and current row) as bigint
        ) as reached
    from shown
    union all
    select
        g,
        cast(0 as bigint) as low,
        min(place) as high,
        cast(0 as bigint) as reached
    from shown
    group by g
),
pieces as (
    select
        t.g,
        t.low,
        coalesce(t.high, e.n_places) as high,
        t.reached,
        p.n_people
    from steps as t
    inner join {{ groups }} as p
        on t.g = p.g
    cross join ends as e
),
-- the table's cumulative share overtakes the group's once in each piece: sorting both together shows where
sorted as (
    select
        cast(c.upto as double) / cast(t.n_all as double) as share,
        0 as side,
        c.upto,
        cast(null as bigint) as g,
        cast(null as bigint) as low,
        cast(null as bigint) as high,
        cast(null as bigint) as reached,
        cast(null as bigint) as n_people
    from cumulated as c
    cross join total as t
    union all
    select
        cast(reached as double) / cast(n_people as double) as share,
        1 as side,
        cast(0 as bigint) as upto,
        g,
        low,
        high,
        reached,
        n_people
    from pieces
),
turning as (
    select
        g,
        low,
        high,
        reached,
        n_people,
        cast(
            sum(1 - side) over (order by share nulls first, side nulls first rows between unbounded preceding and current row) as bigint
        ) as turn,
        cast(
            sum(upto) over (order by share nulls first, side nulls first rows between unbounded preceding and current row) as bigint
        ) as running
    from sorted
),
measured as (
    select
        u.g,
        max(u.n_people) as n_people,
        cast(
            sum(
                case
                    when f.fits = 1
                        then
                            u.reached * t.n_all * (2 * least(greatest(u.turn, u.low), u.high) - u.low - u.high)
                            + u.n_people * (l.running + h.running - 2 * least(greatest(u.running, l.running), h.running))
                end
            ) as bigint
        ) as difference,
        cast(
            sum(
                cast(u.reached as double)
                * (2 * least(greatest(u.turn, u.low), u.high) - u.low - u.high) / cast(u.n_people as double)
                + cast(l.running + h.running - 2 * least(greatest(u.running, l.running), h.running) as double)
                / cast(t.n_all as double)
            ) as double
        ) / cast(max(f.scale) as double) as far
    from turning as u
    inner join edges as l
        on u.low = l.place
    inner join edges as h
        on u.high = h.place
    cross join total as t
    cross join fitting as f
    group by u.g
),
{% else %}
stray as (
    select cast(0 as bigint) as n_stray
),
blurred as (
    select cast(0 as bigint) as n_blurred
),
ends as (
    select cast({{ 2 * levels }} as bigint) as scale
),
{{ fitting() }},
{% if distance == "hierarchical" %}
labelled as (
    {% for level in range(levels) %}
    select
        {{ level }} as level,
        h.g,
        c.c{{ level }} as s,
        cast(sum(h.n_rows) as bigint) as n_rows
    from {{ histogram }} as h
    inner join {{ sensitive_codes }} as c
        on h.s = c.code
    group by
        h.g,
        c.c{{ level }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
table_labelled as (
    select
        level,
        s,
        cast(sum(n_rows) as bigint) as n_rows
    from labelled
    group by
        level,
        s
),
{% endif %}
shares as (
    {% if distance == "hierarchical" %}
    select
        h.g,
        h.n_rows,
        p.n_people,
        o.n_rows as n_overall
    from labelled as h
    inner join {{ groups }} as p
        on h.g = p.g
    inner join table_labelled as o
        on h.level = o.level and h.s = o.s
    {% else %}
    {{ privacy_sql.group_shares(histogram, groups, overall) }}
    {% endif %}
),
compared as (
    select
        s.g,
        max(s.n_people) as n_people,
        cast(
            sum(case when f.fits = 1 then abs(s.n_rows * t.n_all - s.n_overall * s.n_people) end) as bigint
        ) as difference,
        cast(
            sum(
                case
                    when f.fits = 0
                        then
                            abs(
                                cast(s.n_rows as double) / cast(s.n_people as double)
                                - cast(s.n_overall as double) / cast(t.n_all as double)
                            )
                end
            ) as double
        ) as far,
        cast(sum(s.n_overall) as bigint) as n_met
    from shares as s
    cross join total as t
    cross join fitting as f
    group by s.g
),
-- values that a group lacks differ by their whole overall share
measured as (
    select
        c.g,
        c.n_people,
        case
            when f.fits = 1 then c.difference + ({{ levels }} * t.n_all - c.n_met) * c.n_people
        end as difference,
        (c.far + {{ levels }} - cast(c.n_met as double) / cast(t.n_all as double)) / cast(f.scale as double) as far
    from compared as c
    cross join total as t
    cross join fitting as f
),
{% endif %}
farthest as (
    {% if by_group %}
    select
        g,
        n_people,
        difference,
        far
    from measured
    {% else %}
    -- most groups are small and equal, so few have to be sorted
    select
        g,
        n_people,
        difference,
        far,
        row_number() over (partition by n_people order by difference desc, far desc, g) as place
    from (
        select
            n_people,
            difference,
            max(far) as far,
            min(g) as g
        from measured
        group by
            n_people,
            difference,
            case when difference is null then g end
    ) as kinds
    {% endif %}
)
select
    f.n_people,
    t.n_all,
    e.scale,
    f.difference,
    f.far,
    s.n_stray,
    b.n_blurred,
    f.g
from stray as s
cross join blurred as b
cross join ends as e
cross join total as t
left join farthest as f
    on {% if by_group %}1 = 1{% else %}f.place = 1{% endif %}
