-- Which labels of a release cover which values of the people, column by column.
-- in: readable (k, code, exact, number), rules (privacy_sql/labels.py), hierarchies [(k, levels (code, l0..lH) of the
--     people's values, height, labels (code, value))]
-- out: k, value, label (both codes)    grain: column, value, label
select
    v.k,
    v.code as value,
    r.label
from {{ readable }} as v
inner join {{ rules }} as r
    on v.k = r.k and v.exact = r.exact
union
select
    v.k,
    v.code as value,
    r.label
from {{ readable }} as v
inner join {{ rules }} as r
    on v.k = r.k and v.number >= r.low and v.number <= r.high
where
    (r.low_open = 0 or v.number > r.low)
    and (r.high_open = 0 or v.number < r.high)
union
select
    v.k,
    v.code as value,
    r.label
from {{ readable }} as v
inner join {{ rules }} as r
    on v.k = r.k and substring(v.exact, 1, length(r.prefix)) = r.prefix
where r.width is null or length(v.exact) = r.width
union
select
    v.k,
    v.code as value,
    r.label
from {{ readable }} as v
inner join {{ rules }} as r
    on v.k = r.k and (r.everything = 1 or (r.nothing = 1 and v.exact is null))
union
select
    v.k,
    v.code as value,
    r.label
from {{ readable }} as v
inner join {{ rules }} as r
    on v.k = r.k and v.exact >= r.first_word and v.exact <= r.last_word
{% for k, levels, height, labels in hierarchies %}
{% for level in range(1, height + 1) %}
union
select
    cast({{ k }} as bigint) as k,
    t.code as value,
    d.code as label
from {{ levels }} as t
inner join {{ labels }} as d
    on cast(t.l{{ level }} as varchar) = cast(d.value as varchar)
{% endfor %}
{% endfor %}
