{# The number of levels of a hierarchy above the raw value; `recipe` as in recode. #}
{% macro height(recipe) -%}
{%- if recipe == 'keep_or_drop' -%}
1
{%- elif recipe == 'as_is' -%}
0
{%- elif 'tree' in recipe -%}
{%- set tops = recipe['tree'].values() | map('last') | unique(case_sensitive=true) | list -%}
{{ recipe['tree'].values() | first | length + (0 if tops | length == 1 else 1) }}
{%- elif 'mask' in recipe -%}
{{ recipe['mask'] | length + (0 if recipe['mask'] | last == 0 else 1) }}
{%- elif 'intervals' in recipe -%}
{{ recipe['intervals'] | length + (2 if 'clip' in recipe else 1) }}
{%- elif 'dates' in recipe -%}
{{ recipe['dates'] | length + 1 }}
{%- elif 'breaks' in recipe -%}
{{ recipe['breaks'] | length + 1 }}
{%- elif 'keep_or_drop' in recipe -%}
1
{%- elif 'as_is' in recipe -%}
0
{%- else -%}
{{ privacy_sql.refuse("height", "a hierarchy is one of intervals, mask, dates, breaks, tree, keep_or_drop, as_is") }}
{%- endif -%}
{%- endmacro %}
