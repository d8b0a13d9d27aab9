-- The group of each combination of people in a candidate of our own.
-- in: combinations (person, q1..), members (g, q1..), columns    out: person, g    grain: person, group
select
    c.person,
    m.g
from {{ combinations }} as c
inner join {{ members }} as m
    on
    {% for column in columns %}
    c.{{ column }} = m.{{ column }}
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
