-- The combinations of people whom a release has no group for.
-- in: combinations (person, columns), fitting (person), columns    out: person, columns    grain: person
select
    c.person,
    {% for column in columns %}
    c.{{ column }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ combinations }} as c
left join (
    select distinct person from {{ fitting }}
) as f
    on c.person = f.person
where f.person is null
