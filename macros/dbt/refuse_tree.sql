{# A compiler error unless a tree gives every value a label of every level, and no label stands under two. #}
{% macro refuse_tree(where, paths) %}
{{ privacy_sql.refuse_unless(paths is mapping and paths, where, "a tree gives the labels of each value") }}
{%- set height = paths.values() | first | length -%}
{%- set above = {} -%}
{%- for path in paths.values() -%}
{{ privacy_sql.refuse_unless(
    path is not string and path is iterable and path | length == height and height and none not in path,
    where, "a tree has as many labels for each value"
) }}
{%- for level in range(1, height) -%}
{{ privacy_sql.refuse_unless(
    above.setdefault((level, path[level - 1]), path[level]) == path[level], where, "a label of a tree lies under two others"
) }}
{%- endfor -%}
{%- endfor -%}
{% endmacro %}
