-- The combinations of people whom no group fits by its labels: no group at all, or only `*`.
-- in: combinations (person, columns), fitting (person, tier), columns    out: person, columns    grain: person
select
    c.person,
    {% for column in columns %}
    c.{{ column }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ combinations }} as c
left join (
    select distinct person from {{ fitting }}
    where tier < 2
) as f
    on c.person = f.person
where f.person is null
