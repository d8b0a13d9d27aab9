{#
The label of a column's value at a level of its hierarchy, as an SQL expression.
`recipe` is plain data, the same words as in privacy.yml: {'intervals': [5, 10, 20], 'origin': 0, 'clip': {'bottom': 18, 'top': 90}},
{'mask': [4, 3, 0]}, 'keep_or_drop', {'dates': ['month', 'year']}, {'breaks': [[18, 65]]} or
{'tree': {value: [label of level 1, label of level 2, ...]}}.
Level 0 is the value itself, the top level is '*' for everything, NULL stays NULL in between, and so does a
value that the hierarchy does not cover: a caller counts those and refuses.
#}
{% macro recode(column, recipe, level) -%}
{%- if level == 0 -%}
{{ column }}
{%- elif recipe == 'keep_or_drop' -%}
'*'
{%- elif recipe is not mapping or level < 0 or level > privacy_sql.height(recipe) | int -%}
{{ privacy_sql.refuse("recode", "a hierarchy is one of intervals, mask, dates, breaks, tree, keep_or_drop, with its levels") }}
{%- elif 'tree' in recipe -%}
{{ privacy_sql.recode_tree(column, recipe['tree'], level) }}
{%- elif level == privacy_sql.height(recipe) | int -%}
'*'
{%- elif 'intervals' in recipe -%}
{{ privacy_sql.recode_intervals(column, recipe['intervals'], recipe.get('origin', 0), level, recipe.get('clip', {})) }}
{%- elif 'mask' in recipe -%}
{{ privacy_sql.recode_mask(column, recipe['mask'][level - 1]) }}
{%- elif 'dates' in recipe -%}
{{ privacy_sql.recode_date(column, recipe['dates'][level - 1]) }}
{%- elif 'breaks' in recipe -%}
{{ privacy_sql.recode_breaks(column, recipe['breaks'][level - 1]) }}
{%- else -%}
{{ privacy_sql.refuse("recode", "a hierarchy is one of intervals, mask, dates, breaks, tree, keep_or_drop") }}
{%- endif -%}
{%- endmacro %}
