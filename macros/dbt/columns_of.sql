{#
The names of a relation's columns, as JSON. None where dbt does not know them: while it parses or only compiles (the
models that the relation reads may not be built yet), for text, and for an ephemeral model.
#}
{% macro columns_of(relation) -%}
{%- set runs = execute and flags.WHICH not in ("compile", "generate") -%}
{%- if runs and relation is not string and not relation.is_cte -%}
{{ tojson(adapter.get_columns_in_relation(relation) | map(attribute="name") | list) }}
{%- else -%}
[]
{%- endif -%}
{%- endmacro %}
