{# The number of levels of a hierarchy above the raw value; `recipe` as in recode. #}
{% macro height(recipe) -%}
{%- if recipe is not mapping -%}
1
{%- elif 'tree' in recipe -%}
{%- set tops = recipe['tree'].values() | map('last') | unique(case_sensitive=true) | list -%}
{{ recipe['tree'].values() | first | length + (0 if tops | length == 1 else 1) }}
{%- elif 'mask' in recipe -%}
{{ recipe['mask'] | length + (0 if recipe['mask'] | last == 0 else 1) }}
{%- else -%}
{{ recipe['intervals'] | default(recipe['dates'] | default(recipe['breaks'] | default([]))) | length + 1 }}
{%- endif -%}
{%- endmacro %}
