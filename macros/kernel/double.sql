{# The type of a number with a fraction. #}
{% macro double() -%}
{{ adapter.dispatch("double", "privacy_sql")() }}
{%- endmacro %}

{% macro default__double() -%}
double
{%- endmacro %}
