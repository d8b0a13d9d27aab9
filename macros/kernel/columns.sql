{# Quoted column names, separated by commas. #}
{% macro columns(names) %}
{% for name in names %}
{{ adapter.quote(name) }}{% if not loop.last %}, {% endif %}
{% endfor %}
{% endmacro %}
