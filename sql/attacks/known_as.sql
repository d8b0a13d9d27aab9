-- The values of a column as a lookup table writes them: `0.30` is 0.3 where the table has no other, and True is true.
-- in: dictionary (code, value, n_rows), readable (code, exact, spelt, number), lookup (l0), leaves (code, exact, spelt,
--     number)
-- out: code, value, n_rows    grain: value
with same_number as (
    select
        number,
        min(exact) as exact
    from {{ leaves }}
    where number is not null
    group by number
),
same_spelling as (
    select
        spelt,
        min(exact) as exact
    from {{ leaves }}
    group by spelt
)
select
    d.code,
    coalesce(t.l0, n.exact, s.exact, r.exact) as value,
    d.n_rows
from {{ dictionary }} as d
inner join {{ readable }} as r
    on d.code = r.code
left join {{ lookup }} as t
    on r.exact = t.l0
left join same_number as n
    on r.number = n.number
left join same_spelling as s
    on r.spelt = s.spelt
