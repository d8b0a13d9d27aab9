-- Labels nobody could read: what they say covers no value of the people, and might cover any.
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
