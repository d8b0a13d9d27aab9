-- How many groups there are of each size in the table and in the population.
-- in: population (g, n_people, n_population)
-- out: n_people, n_population, n_groups, g (one such group)    grain: pair of sizes (and group, by_group)
select
    n_people,
    n_population,
    cast(count(*) as bigint) as n_groups,
    min(g) as g
from {{ population }}
group by
    n_people,
    n_population
    {% if by_group %},
    g
    {% endif %}
