-- How many groups there are of each size, with a population also by how many of it fit them.
-- in: groups (g, n_people), or population (g, n_people, n_population)
-- out: n_people, n_groups, g (one such group), with a population n_population
-- grain: size, or pair of sizes (and group, by_group)
{% if population is defined %}
{{ privacy_sql.population_sizes(population, by_group) }}
{% else %}
select
    n_people,
    cast(count(*) as bigint) as n_groups,
    min(g) as g
from {{ groups }}
group by
    n_people
    {% if by_group %},
    g
    {% endif %}
{% endif %}
