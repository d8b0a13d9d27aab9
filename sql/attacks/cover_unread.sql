-- The cover with labels that could not be read: they may mean any value.
-- in: cover (k, value, label, tier), unread (k, label), readable (k, code)
-- out: k, value, label, tier    grain: column, value, label
select
    k,
    value,
    label,
    tier
from {{ cover }}
union all
select
    v.k,
    v.code as value,
    u.label,
    cast(3 as bigint) as tier
from {{ readable }} as v
inner join {{ unread }} as u
    on v.k = u.k
