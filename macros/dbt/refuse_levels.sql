{# A compiler error unless every level belongs to a column and its hierarchy has it. #}
{% macro refuse_levels(quasi, levels) %}
{{ privacy_sql.refuse_unless(quasi is mapping and quasi, "generalise", "quasi gives each column its hierarchy") }}
{%- for column, recipe in quasi.items() -%}
{{ privacy_sql.refuse_hierarchy("generalise", recipe) }}
{%- endfor -%}
{%- for column, level in levels.items() -%}
{{ privacy_sql.refuse_unless(column in quasi, "generalise", "levels names a column that is not in quasi") }}
{%- set plain = quasi[column] == "as_is" or (quasi[column] is mapping and "as_is" in quasi[column]) -%}
{{ privacy_sql.refuse_unless(
    level is integer and level >= 0 and level <= (0 if plain else privacy_sql.height(quasi[column]) | int),
    "generalise", "a level is a whole number from 0 to the top of its hierarchy"
) }}
{%- endfor -%}
{% endmacro %}
