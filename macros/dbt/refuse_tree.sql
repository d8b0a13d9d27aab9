{# A compiler error unless a tree gives every value a label of every level, and no label stands under two. #}
{% macro refuse_tree(where, paths) %}
{{ privacy_sql.refuse_unless(paths is mapping and paths, where, "a tree gives the labels of each value") }}
{%- set height = paths.values() | first | length -%}
{%- for path in paths.values() -%}
{{ privacy_sql.refuse_unless(
    path is not string and path is iterable and path | length == height and height and none not in path,
    where, "a tree has as many labels for each value"
) }}
{%- endfor -%}
{%- for level in range(1, height) -%}
{%- set pairs -%}
[{%- for path in paths.values() -%}
{{ tojson(tojson([path[level - 1], path[level]])) }}{% if not loop.last %}, {% endif %}
{%- endfor -%}]
{%- endset -%}
{%- set labels = paths.values() | map(attribute=level - 1) | map("string") | unique(case_sensitive=true) | list -%}
{{ privacy_sql.refuse_unless(
    fromjson(pairs) | unique(case_sensitive=true) | list | length == labels | length,
    where, "a label of a tree has two different parents"
) }}
{%- endfor -%}
{% endmacro %}
