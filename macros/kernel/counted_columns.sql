{# What is counted at a place of a box: [c], the columns `told` and the measures. #}
{% macro counted_columns(relaxed, told, measures) %}
{% if relaxed %}
c,
{% endif %}
{% for name in told %}
{{ name }},
{% endfor %}
{% for measure in measures %}
{{ measure }}{% if not loop.last %},{% endif %}

{% endfor %}
{% endmacro %}
