{# A value as a literal in quotes; Python has its own. #}
{% macro literal(value) -%}
{%- if value is none -%}
null
{%- else -%}
'{{ dbt.escape_single_quotes(value | string) }}'
{%- endif -%}
{%- endmacro %}
