-- The sensitive values of one group, by name: internal, only when a person asks to see values.
-- in: histogram (g, s, n_rows), values (code, value)    out: value, n_rows    grain: sensitive value
select
    v.value,
    h.n_rows
from {{ histogram }} as h
inner join {{ values }} as v
    on h.s = v.code
where h.g = {{ group }}
order by h.n_rows desc, v.code
