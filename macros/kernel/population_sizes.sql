{# How many groups there are of each size in the table and in the population, with one such group (each group, by_group). #}
{% macro population_sizes(population, by_group) %}
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
{% endmacro %}
