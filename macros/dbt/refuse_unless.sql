{# A compiler error unless a parameter is as it must be. #}
{% macro refuse_unless(right, message) %}
{%- if not right -%}
{{ exceptions.raise_compiler_error(message) }}
{%- endif -%}
{% endmacro %}
