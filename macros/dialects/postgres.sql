{# PostgreSQL's table of words, for dbt; Python translates the default words itself. #}
{% macro postgres__matches(column, pattern) -%}
(concat(cast({{ column }} as varchar), '|') ~ {{ pattern }})
{%- endmacro %}

{% macro postgres__double() -%}
double precision
{%- endmacro %}
