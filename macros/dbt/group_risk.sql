{#
The size of every group of people alike in their quasi-identifiers, and the chance to guess a sensitive value there:
n_rows, n_values and largest_share per group. Holds no value of any column.
`known` names columns that are published unchanged: the groups are then those of somebody who also knows these.
#}
{% macro group_risk(relation, quasi, sensitive, known=[]) %}
{{ privacy_sql.refuse_unless(
    known is not string and known is iterable,
    "group_risk", "known is a list of names"
) }}
{%- set keys = quasi | list + known | list if quasi is not string and quasi is iterable else quasi -%}
{{ privacy_sql.refuse_columns("group_risk", relation, keys, sensitive) }}
select
    g,
    cast(sum(n_rows) as bigint) as n_rows,
    count(*) as n_values,
    cast(max(n_rows) as {{ privacy_sql.double() }}) / cast(sum(n_rows) as {{ privacy_sql.double() }}) as largest_share
from (
    {{ privacy_sql.group_histogram(privacy_sql.picked(relation, keys + [sensitive]), keys, sensitive) }}
) as histogram
group by g
{% endmacro %}
