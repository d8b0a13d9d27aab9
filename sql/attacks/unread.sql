-- Labels that could not be read: they cover no value of the people as written, and might cover any.
-- in: rules (k, label, unread), cover (k, value, label)    out: k, label    grain: column, label
select distinct
    r.k,
    r.label
from {{ rules }} as r
left join {{ cover }} as c
    on r.k = c.k and r.label = c.label
where
    r.unread = 1
    and c.label is null
