-- A number for every part of every box.
-- in: parts (box, part, n_people)    out: box, part, g, n_people    grain: part
with found as (
    select
        box,
        part,
        cast(sum(n_people) as bigint) as n_people
    from {{ parts }}
    group by
        box,
        part
)
select
    box,
    part,
    n_people,
    cast(row_number() over (order by box, part) as bigint) as g
from found
