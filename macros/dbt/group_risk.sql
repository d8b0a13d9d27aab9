{#
The size of every group of people alike in their quasi-identifiers, and the chance to guess a sensitive value there:
n_rows, n_values and largest_share per group. Holds no value of any column.
#}
{% macro group_risk(relation, quasi, sensitive) %}
{{ privacy_sql.refuse_columns("group_risk", relation, quasi, sensitive) }}
select
    g,
    cast(sum(n_rows) as bigint) as n_rows,
    count(*) as n_values,
    cast(max(n_rows) as {{ privacy_sql.double() }}) / cast(sum(n_rows) as {{ privacy_sql.double() }}) as largest_share
from (
    {{ privacy_sql.group_histogram(privacy_sql.picked(relation, quasi + [sensitive]), quasi, sensitive) }}
) as histogram
group by g
{% endmacro %}
