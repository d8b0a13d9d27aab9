{# Spark's words, for dbt; Python translates the default words itself. #}
{% macro spark__matches(column, pattern) -%}
(concat(cast({{ column }} as string), '|') rlike {{ pattern }})
{%- endmacro %}
