{# The letters of a name and the pairs of neighbours, in small letters, as JSON. #}
{% macro pieces(name) -%}
[{%- for letter in name | lower | list -%}
{{ tojson(letter) }}, {{ tojson([letter, loop.nextitem | default("")] | join) }}{% if not loop.last %}, {% endif %}
{%- endfor -%}]
{%- endmacro %}
