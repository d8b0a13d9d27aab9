-- The sensitive values of each group by name.
-- in: histogram (g, s, n_rows), values (code, value)    out: g, value, n_rows    grain: group, value
select
    h.g,
    cast(v.value as varchar) as value,
    h.n_rows
from {{ histogram }} as h
inner join {{ values }} as v
    on h.s = v.code
order by
    h.g,
    h.s
