-- Every group with its people and the counts of its values; a group without any value has one row with s = -1.
-- in: groups (g, n_people), histogram (g, s, n_rows)    out: g, n_people, s, n_rows    grain: group, sensitive value
select
    p.g,
    p.n_people,
    coalesce(h.s, cast(-1 as bigint)) as s,
    coalesce(h.n_rows, cast(0 as bigint)) as n_rows
from {{ groups }} as p
left join {{ histogram }} as h
    on p.g = h.g
