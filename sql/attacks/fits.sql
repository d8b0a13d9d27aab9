-- Which first columns of groups fit which first columns of people, with one column more than before, and how well at
-- worst. Each step continues from what fitted before, so that none looks at all pairs of people and groups.
-- in: before (u, m, tier) unless first, people (theirs, p1..), members (published, p1..), cover (k, value, label, tier),
--     k, step
-- out: u, m (numbers of prefixes), tier    grain: prefix of people, prefix of groups
select distinct
    u.p{{ step }} as u,
    m.p{{ step }} as m,
{% if step == 1 %}
    c.tier
from (
    select distinct p1, {{ theirs }} from {{ people }}
) as u
inner join {{ cover }} as c
    on c.k = {{ k }} and u.{{ theirs }} = c.value
inner join (
    select distinct p1, {{ published }} from {{ members }}
) as m
    on c.label = m.{{ published }}
{% else %}
    greatest(before.tier, c.tier) as tier
from {{ before }} as before
inner join (
    select distinct p{{ step - 1 }}, p{{ step }}, {{ theirs }} from {{ people }}
) as u
    on before.u = u.p{{ step - 1 }}
inner join {{ cover }} as c
    on c.k = {{ k }} and u.{{ theirs }} = c.value
inner join (
    select distinct p{{ step - 1 }}, p{{ step }}, {{ published }} from {{ members }}
) as m
    on before.m = m.p{{ step - 1 }} and c.label = m.{{ published }}
{% endif %}
