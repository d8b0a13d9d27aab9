{#
How many people share the labels of each set of columns, all sets in one reading. A set is the sum of its columns' bits; a
code is never NULL.
in: counted (the columns as codes, n_rows), columns [(column, bit)], sets [[column]]
out: members (of the set), n_people    grain: set and combination of its codes
#}
{% macro people_of_sets(counted, columns, sets) %}
select
    {% for column, bit in columns %}
    case when {{ column }} is null then cast(0 as bigint) else cast({{ bit }} as bigint) end{% if not loop.last %} +{% else %} as members,{% endif %}

    {% endfor %}
    cast(sum(n_rows) as bigint) as n_people
from {{ counted }}
group by grouping sets (
    {% for members in sets %}
    ({% for column in members %}{{ column }}{% if not loop.last %}, {% endif %}{% endfor %}){% if not loop.last %},{% endif %}

    {% endfor %}
)
{% endmacro %}
