-- Labels that could not be read: they cover no value of the people as written, and might cover any. A name (1) always may,
-- a mask (2) where no value has its length, a number (3) where no value is one, or where its column has codes (a number
-- with zeros in front) and no value has its length.
-- in: rules (k, label, exact, width, unread), cover (k, value, label), readable (k, exact, number)    out: k, label
-- grain: column, label
with lengths as (
    select
        k,
        length(exact) as width
    from {{ readable }}
    where exact is not null
    group by
        k,
        length(exact)
),
columns_of_people as (
    select
        k,
        max(case when number is null then 0 else 1 end) as numbers
    from {{ readable }}
    group by k
),
codes as (
    select k
    from {{ rules }}
    where
        unread = 3
        and substring(exact, 1, 1) = '0'
        and substring(exact, 2, 1) >= '0'
        and substring(exact, 2, 1) <= '9'
    group by k
)
select distinct
    r.k,
    r.label
from {{ rules }} as r
inner join columns_of_people as p
    on r.k = p.k
left join {{ cover }} as c
    on r.k = c.k and r.label = c.label
left join lengths as l
    on r.k = l.k and r.width = l.width
left join codes as d
    on r.k = d.k
where
    c.label is null
    and (
        r.unread = 1
        or (r.unread = 2 and l.k is null)
        or (r.unread = 3 and (p.numbers = 0 or (d.k is not null and l.k is null)))
    )
