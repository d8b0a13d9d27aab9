{# A number the user wrote, as a double. #}
{% macro decimal(number) -%}
cast({{ privacy_sql.literal(number) }} as {{ privacy_sql.double() }})
{%- endmacro %}
