-- The published lines of people who may have several values: one for each value of a group, and one, with the code of what
-- is missing, for each person without any.
-- in: histogram (g, s, n_rows), groups (g, n_people), holders (g, n_rows as people with a value)
-- out: g, s, n_rows    grain: group, sensitive value or none
select
    g,
    s,
    n_rows
from {{ histogram }}
union all
select
    p.g,
    cast(0 as bigint) as s,
    p.n_people - coalesce(h.n_rows, 0) as n_rows
from {{ groups }} as p
left join {{ holders }} as h
    on p.g = h.g
where p.n_people > coalesce(h.n_rows, 0)
