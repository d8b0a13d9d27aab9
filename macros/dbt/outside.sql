{# Whether a column holds a value that its hierarchy does not cover. NULL is none; `recode` gives it no label either. #}
{% macro outside(column, recipe) -%}
{%- set quoted = adapter.quote(column) -%}
({{ quoted }} is not null and {{ privacy_sql.recode(quoted, recipe, 1) }} is null)
{%- endmacro %}
