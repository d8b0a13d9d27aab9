{# A compiler error that names the test or macro, unless a parameter is as it must be. #}
{% macro refuse_unless(right, where, message) %}
{%- if not right -%}
{{ privacy_sql.refuse(where, message) }}
{%- endif -%}
{% endmacro %}
