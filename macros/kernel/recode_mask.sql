{# The first characters, and one star for each character hidden. #}
{% macro recode_mask(column, kept) -%}
rpad(
    substr(cast({{ column }} as varchar), 1, {{ kept }}),
    cast(length(cast({{ column }} as varchar)) as int),
    '*'
)
{%- endmacro %}
