{#
How often each sensitive value occurs among people alike in their quasi-identifiers; NULL is a value of its own.
Groups are numbered, so that no value of a quasi-identifier goes any further.
#}
{% macro group_histogram(relation, quasi, sensitive) %}
select
    dense_rank() over (order by {{ privacy_sql.apart(quasi) }}) as g,
    {{ adapter.quote(sensitive) }} as s,
    cast(count(*) as bigint) as n_rows
from {{ relation }}
group by
    {{ privacy_sql.apart(quasi) }},
    {{ adapter.quote(sensitive) }}
{% endmacro %}
