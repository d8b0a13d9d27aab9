-- How many people of a group have near values: its fullest window, or its fullest ball of a matrix.
-- in: histogram (g, s, n_rows), groups (g, n_people), distance,
--     near (code, place, upto, bins, shifted_bins, is_second); of a matrix balls (centre, code)
-- out: n_people, n_near, n_values (places, of a matrix values, among them), low and high (codes at the ends of the
--      window; of a matrix of any value in it; 0 where the values are missing), g
-- grain: the group with the fullest of each size (every group, by_group)
{% if distance == "matrix" %}
with held as (
    select
        h.g,
        b.centre,
        cast(sum(h.n_rows) as bigint) as n_near,
        cast(count(*) as bigint) as n_values,
        min(h.s) as low,
        max(h.s) as high
    from {{ histogram }} as h
    inner join {{ balls }} as b
        on h.s = b.code
    group by
        h.g,
        b.centre
),
picked as (
    select
        p.n_people,
        h.n_near,
        h.n_values,
        h.low,
        h.high,
        h.g,
        row_number() over (
            partition by {% if by_group %}h.g{% else %}p.n_people{% endif %}

            order by h.n_near desc, h.g nulls first, h.centre nulls first
        ) as place
    from held as h
    inner join {{ groups }} as p
        on h.g = p.g
)
select
    n_people,
    n_near,
    n_values,
    low,
    high,
    g
from picked
where place = 1
{% else %}
with
{% if by_group %}
wanted as (
    select
        g,
        n_people
    from {{ groups }}
),
{% else %}
-- every window lies in two neighbouring bins, which are together either here or in the shifted pairs
pairs as (
    select
        h.g,
        n.bins,
        cast(sum(h.n_rows) as bigint) as n_both,
        cast(sum(case when n.is_second = 1 then h.n_rows else 0 end) as bigint) as n_second
    from {{ histogram }} as h
    inner join {{ near }} as n
        on h.s = n.code
    group by
        h.g,
        n.bins
),
shifted_pairs as (
    select
        h.g,
        n.shifted_bins,
        cast(sum(h.n_rows) as bigint) as n_both
    from {{ histogram }} as h
    inner join {{ near }} as n
        on h.s = n.code
    group by
        h.g,
        n.shifted_bins
),
-- a bin is one window, so the fullest window holds at least as many as the fullest bin
bounds as (
    select
        g,
        greatest(n_second, n_both - n_second) as least_near,
        n_both as most_near
    from pairs
    union all
    select
        g,
        cast(0 as bigint) as least_near,
        n_both as most_near
    from shifted_pairs
),
bounded as (
    select
        b.g,
        max(p.n_people) as n_people,
        max(b.least_near) as least_near,
        max(b.most_near) as most_near
    from bounds as b
    inner join {{ groups }} as p
        on b.g = p.g
    group by b.g
),
best as (
    select max(cast(least_near as double) / cast(n_people as double)) as share
    from bounded
),
wanted as (
    select
        b.g,
        b.n_people
    from bounded as b
    cross join best
    -- rounding changes a quotient by far less
    where cast(b.most_near as double) / cast(b.n_people as double) >= best.share * cast('0.999999' as double)
),
{% endif %}
shown as (
    select
        w.g,
        w.n_people,
        n.place,
        n.upto,
        cast(sum(h.n_rows) as bigint) as n_rows
    from {{ histogram }} as h
    inner join wanted as w
        on h.g = w.g
    inner join {{ near }} as n
        on h.s = n.code
    group by
        w.g,
        w.n_people,
        n.place,
        n.upto
),
-- a value counts from its own place to the last one near it, so a running count at a place is a window that ends there
turns as (
    select
        g,
        n_people,
        place as point,
        0 as side,
        n_rows as n
    from shown
    union all
    select
        g,
        n_people,
        upto as point,
        1 as side,
        -n_rows as n
    from shown
),
running as (
    select
        g,
        n_people,
        point,
        cast(
            sum(n) over (
                partition by g
                order by point nulls first, side nulls first
                rows between unbounded preceding and current row
            ) as bigint
        ) as n_near
    from turns
),
fullest as (
    select
        g,
        n_people,
        n_near,
        point,
        row_number() over (
            partition by {% if by_group %}g{% else %}n_people{% endif %}

            order by n_near desc, g nulls first, point nulls first
        ) as place
    from running
),
held as (
    select
        f.n_people,
        f.n_near,
        f.point,
        f.g,
        cast(count(*) as bigint) as n_values,
        min(s.place) as least_place
    from fullest as f
    inner join shown as s
        on f.g = s.g
    where
        f.place = 1
        and f.point between s.place and s.upto
    group by
        f.n_people,
        f.n_near,
        f.point,
        f.g
),
codes as (
    select
        place,
        min(code) as code
    from {{ near }}
    group by place
)
select
    w.n_people,
    w.n_near,
    w.n_values,
    l.code as low,
    h.code as high,
    w.g
from held as w
inner join codes as l
    on w.least_place = l.place
inner join codes as h
    on w.point = h.place
{% endif %}
