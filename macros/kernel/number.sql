{# A column as a double; NULL where it is NULL or is no number. #}
{% macro number(column) -%}
case when {{ privacy_sql.is_number(column) }} then {{ privacy_sql.to_number(column) }} end
{%- endmacro %}
