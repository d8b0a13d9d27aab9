-- Which value of one column is which of another: the same text or, where the other has no such text, the same number.
-- in: theirs, ours (k = 1, code, exact, number)    out: code (of theirs), k (of ours)    grain: value
with alike as (
    select
        p.code,
        o.code as k
    from {{ theirs }} as p
    inner join {{ ours }} as o
        on p.exact = o.exact
    union all
    select
        p.code,
        o.code as k
    from {{ theirs }} as p
    inner join {{ ours }} as o
        on p.k = o.k
    where
        p.exact is null
        and o.exact is null
)
select
    code,
    k
from alike
union all
select
    p.code,
    o.code as k
from {{ theirs }} as p
inner join {{ ours }} as o
    on p.number = o.number
left join alike
    on p.code = alike.code
where alike.code is null
