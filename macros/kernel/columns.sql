{# Column names, quoted, in a row. #}
{% macro columns(names) %}
{% for name in names %}
{{ adapter.quote(name) }}{% if not loop.last %}, {% endif %}
{% endfor %}
{% endmacro %}
