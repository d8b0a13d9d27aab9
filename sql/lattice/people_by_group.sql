-- The groups, their keys and the people in them.
-- in: members (g, k1.., n_rows as people), aliases    out: g, k1.., n_people    grain: group
select
    g,
    {% for alias in aliases %}
    {{ alias }},
    {% endfor %}
    cast(sum(n_rows) as bigint) as n_people
from {{ members }}
group by
    g
    {% for alias in aliases %},
    {{ alias }}
    {% endfor %}

