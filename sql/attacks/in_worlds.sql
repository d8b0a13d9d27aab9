-- What a release says about people, for each world of all releases; the world replaces the person.
-- in: worlds (world, person, w_1.., reading where there are two), number of the release, relations [(person, w, column)],
--     one for both readings or one for each
-- out: person (the world), column    grain: world and column
{% for relation in relations %}
select
    o.world as person,
    r.{{ column }}
from {{ worlds }} as o
inner join {{ relation }} as r
    on o.person = r.person and o.w_{{ number }} = r.w
{% if relations | length > 1 %}
where o.reading = {{ loop.index }}
{% endif %}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
