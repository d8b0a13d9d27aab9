-- The combinations of people without a group in a release.
-- in: combinations (person, columns), located (person), columns    out: person, columns    grain: person
select
    c.person,
    {% for column in columns %}
    c.{{ column }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ combinations }} as c
left join (
    select distinct person from {{ located }}
) as l
    on c.person = l.person
where l.person is null
