-- The groups of a release that each combination of people fits, matched column by column: what fits in the
-- first columns is carried on, so that no step looks at all pairs of people and groups.
-- in: people (person, columns, p1..), members (g, columns, p1..), cover (k, value, label),
--     steps [(k, people's column, group's column)]
-- out: person, g    grain: person, group
with
{% for k, theirs, published in steps %}
step_{{ loop.index }} as (
    select distinct
        u.p{{ loop.index }} as u,
        m.p{{ loop.index }} as m
    {% if loop.first %}
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
    from step_{{ loop.index - 1 }} as before
    inner join (
        select distinct p{{ loop.index - 1 }}, p{{ loop.index }}, {{ theirs }} from {{ people }}
    ) as u
        on before.u = u.p{{ loop.index - 1 }}
    inner join (
        select distinct p{{ loop.index - 1 }}, p{{ loop.index }}, {{ published }} from {{ members }}
    ) as m
        on before.m = m.p{{ loop.index - 1 }}
    inner join {{ cover }} as c
        on c.k = {{ k }} and u.{{ theirs }} = c.value and m.{{ published }} = c.label
    {% endif %}
){% if not loop.last %},{% endif %}

{% endfor %}
select distinct
    u.person,
    m.g
from step_{{ steps | length }} as fits
inner join {{ people }} as u
    on fits.u = u.p{{ steps | length }}
inner join {{ members }} as m
    on fits.m = m.p{{ steps | length }}
