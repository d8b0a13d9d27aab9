{# Spark's table of words, for dbt; Python translates the default words itself. #}
{% macro spark__matches(column, pattern) -%}
(concat(cast({{ column }} as string), '|') rlike {{ pattern }})
{%- endmacro %}

{% macro spark__double() -%}
double
{%- endmacro %}
