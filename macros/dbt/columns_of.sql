{#
The names of a relation's columns, as JSON. None where dbt cannot tell them: while it parses or only compiles (what the
relation is made of may not be built yet), of text, of an ephemeral model.
#}
{% macro columns_of(relation) -%}
{%- set runs = execute and flags.WHICH not in ("compile", "generate") -%}
{%- if runs and relation is not string and not relation.is_cte -%}
{{ tojson(adapter.get_columns_in_relation(relation) | map(attribute="name") | list) }}
{%- else -%}
[]
{%- endif -%}
{%- endmacro %}
