{# A compiler error that names the test or macro, unless a condition on a parameter holds. #}
{% macro refuse_unless(right, where, message) %}
{%- if not right -%}
{{ privacy_sql.refuse(where, message) }}
{%- endif -%}
{% endmacro %}
