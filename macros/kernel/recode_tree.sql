{#
The label that a lookup table gives, written out as a CASE: for standalone SQL and dbt. The driver joins a loaded
relation instead. The last label is '*' where all values share it; else '*' is the level above.
#}
{% macro recode_tree(column, paths, level) -%}
{%- set tops = paths.values() | map('last') | unique(case_sensitive=true) | list -%}
{%- set labels = paths.values() | first | length -%}
{%- if level > labels or (level == labels and tops | length == 1) -%}
'*'
{%- else -%}
case cast({{ column }} as varchar)
    {% for value, path in paths.items() %}
    when {{ privacy_sql.literal(value) }} then {{ privacy_sql.literal(path[level - 1]) }}
    {% endfor %}
end
{%- endif -%}
{%- endmacro %}
