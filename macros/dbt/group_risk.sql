{#
The size of every group of people alike in their quasi-identifiers, and the chance to guess a sensitive value there:
n_rows, n_values and largest_share per group. Holds no value of any column.
#}
{% macro group_risk(relation, quasi_identifiers, sensitive) %}
select
    g,
    cast(sum(n_rows) as bigint) as n_rows,
    count(*) as n_values,
    {{ privacy_sql.ratio("max(n_rows)", "sum(n_rows)") }} as largest_share
from (
    {{ privacy_sql.histogram(relation, quasi_identifiers, sensitive) }}
) as histogram
group by g
{% endmacro %}
