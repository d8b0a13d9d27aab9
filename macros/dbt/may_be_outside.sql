{# The columns whose hierarchy may leave a value without a label, as JSON: a mask and keep_or_drop cover everything. #}
{% macro may_be_outside(quasi) -%}
{%- set found = [] -%}
{%- for column, recipe in quasi.items() if recipe is mapping -%}
{%- if recipe.keys() | select("in", ["intervals", "dates", "breaks", "tree"]) | list -%}
{%- do found.append(column) -%}
{%- endif -%}
{%- endfor -%}
{{ tojson(found) }}
{%- endmacro %}
