-- Which labels of a release cover which values of the people.
-- in: readable (code, exact, number), rules (privacy_sql/labels.py), levels (code, l0..lH) of the people's values,
--     dictionary (code, value) of the labels
-- out: value, label (both codes)    grain: value, label
select
    v.code as value,
    r.label
from {{ readable }} as v
inner join {{ rules }} as r
    on v.exact = r.exact
union
select
    v.code as value,
    r.label
from {{ readable }} as v
inner join {{ rules }} as r
    on v.number >= r.low and v.number <= r.high
where
    (r.low_open = 0 or v.number > r.low)
    and (r.high_open = 0 or v.number < r.high)
union
select
    v.code as value,
    r.label
from {{ readable }} as v
inner join {{ rules }} as r
    on substring(v.exact, 1, length(r.prefix)) = r.prefix
where r.width is null or length(v.exact) = r.width
union
select
    v.code as value,
    r.label
from {{ readable }} as v
inner join {{ rules }} as r
    on r.everything = 1 or (r.nothing = 1 and v.exact is null)
{% for level in range(1, height + 1) %}
union
select
    t.code as value,
    d.code as label
from {{ levels }} as t
inner join {{ dictionary }} as d
    on cast(t.l{{ level }} as varchar) = cast(d.value as varchar)
{% endfor %}
