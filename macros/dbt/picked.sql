{#
The columns of a model that a test reads, and no others: a misspelt column is an error, and no name of ours or of the
engine's (rowid, ctid, the model itself as a row) can take its place.
#}
{% macro picked(model, names) -%}
(
    select {{ privacy_sql.columns(names | unique(case_sensitive=true) | list) }}
    from (select * from {{ model }}) as ps_model
) as ps_picked
{%- endmacro %}
