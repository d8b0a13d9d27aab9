-- The groups that fit each combination of people best, as worlds: any group of a world may contain the person, and only
-- one of several worlds is true. `*` and unreadable labels (tiers 2 and 3) count the same: either may contain the person.
-- in: fittings [(person, g, tier)], apart (whether each group is a world of its own, however well it fits)
-- out: person, w, g    grain: person, group
with fitting as (
    {% for relation in fittings %}
    select
        person,
        g,
        tier
    from {{ relation }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
best as (
    select
        person,
        least(min(tier), 2) as tier
    from fitting
    group by person
)
select distinct
    f.person,
    {% if apart %}
    f.g + 1 as w,
    {% else %}
    case when f.tier = 0 then cast(0 as bigint) else f.g + 1 end as w,
    {% endif %}
    f.g
from fitting as f
inner join best as b
    on f.person = b.person and least(f.tier, 2) = b.tier
