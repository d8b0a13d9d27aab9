{# The letters of a name and the pairs of neighbours, in small letters, as JSON. #}
{% macro pieces(name) -%}
{%- set found = [] -%}
{%- for letter in name | lower -%}
{%- do found.extend([letter, [letter, loop.nextitem | default("")] | join]) -%}
{%- endfor -%}
{{ tojson(found) }}
{%- endmacro %}
