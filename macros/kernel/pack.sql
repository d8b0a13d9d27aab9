{# One integer for a combination of codes: mixed radix, so that groups are counted over one column. #}
{% macro pack(keys) %}
{% for alias, size in keys %}({% endfor %}
cast(0 as bigint)
{%- for alias, size in keys %} * {{ size }} + keyed.{{ alias }}){% endfor %}
{% endmacro %}
