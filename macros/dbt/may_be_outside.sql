{# The columns whose hierarchy may leave a value without a label, as JSON: a mask and keep_or_drop cover everything. #}
{% macro may_be_outside(quasi) -%}
{%- set unsure = namespace(columns=[]) -%}
{%- for column, recipe in quasi.items() -%}
{%- if recipe is mapping and recipe.keys() | select("in", ["intervals", "dates", "breaks", "tree"]) | list -%}
{%- set unsure.columns = unsure.columns + [column] -%}
{%- endif -%}
{%- endfor -%}
{{ tojson(unsure.columns) }}
{%- endmacro %}
