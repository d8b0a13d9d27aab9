{#
How often each sensitive value occurs among people with the same quasi-identifiers, compared as a reader sees them; NULL
is a value of its own. Groups are numbered, so that no value of a quasi-identifier goes any further.
#}
{% macro group_histogram(relation, quasi, sensitive) %}
select
    dense_rank() over (order by {{ privacy_sql.apart(quasi) }}) as g,
    cast({{ adapter.quote(sensitive) }} as varchar) as s,
    cast(count(*) as bigint) as n_rows
from {{ relation }}
group by
    {{ privacy_sql.apart(quasi) }},
    {{ privacy_sql.apart([sensitive]) }}
{% endmacro %}
