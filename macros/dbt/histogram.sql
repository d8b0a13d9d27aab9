{#
How often each sensitive value occurs among people alike in their quasi-identifiers; NULL is a value of its own.
Groups are numbered, so that no value of a quasi-identifier reaches the result of a test.
#}
{% macro histogram(relation, quasi_identifiers, sensitive) %}
select
    dense_rank() over (order by {{ privacy_sql.columns(quasi_identifiers) }}) as g,
    {{ adapter.quote(sensitive) }} as s,
    count(*) as n_rows
from {{ relation }}
group by
    {{ privacy_sql.columns(quasi_identifiers) }},
    {{ adapter.quote(sensitive) }}
{% endmacro %}
