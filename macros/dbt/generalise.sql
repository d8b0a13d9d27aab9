{#
A column at a level of its hierarchy, for the select list of a published model. The hierarchy is written as in
privacy.yml: {'intervals': [5, 10]}, {'mask': [4, 3, 0]}, 'keep_or_drop', {'dates': ['month', 'year']}, ...
#}
{% macro generalise(column, hierarchy, level) -%}
{{ privacy_sql.recode(adapter.quote(column), hierarchy, level) }}
{%- endmacro %}
