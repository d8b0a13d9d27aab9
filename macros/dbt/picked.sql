{#
The columns of a model that a test reads, and nothing else in reach: a misspelt column is an error, and neither a name
of ours nor one of the engine's (rowid, ctid, the model itself as a row) takes its place.
#}
{% macro picked(model, names) -%}
(
    select {{ privacy_sql.columns(names | unique(case_sensitive=true) | list) }}
    from (select * from {{ model }}) as ps_model
) as ps_picked
{%- endmacro %}
