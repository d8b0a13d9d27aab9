{# The number that a text says, as a double; only valid where is_number holds, so put it inside a CASE. #}
{% macro to_number(column) -%}
cast(trim(cast({{ column }} as varchar)) as {{ privacy_sql.double() }})
{%- endmacro %}
