-- INTERNAL: every person, with the number of their combination.
-- in: rows (q1.. codes, id when identified), combinations (person, q1..), columns    out: id, person    grain: row
select
    {% if identified %}
    r.id,
    {% else %}
    cast(row_number() over (order by c.person) as bigint) as id,
    {% endif %}
    c.person
from {{ rows }} as r
inner join {{ combinations }} as c
    on
    {% for column in columns %}
    r.{{ column }} = c.{{ column }}
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
order by id
