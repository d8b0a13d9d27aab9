{# Whether a column has a value that its hierarchy does not cover. NULL is not such a value, though `recode` gives it no label. #}
{% macro outside(column, recipe) -%}
{%- set quoted = adapter.quote(column) -%}
({{ quoted }} is not null and {{ privacy_sql.recode(quoted, recipe, 1) }} is null)
{%- endmacro %}
