{#
Somebody who knows any m of the columns finds at least k people, and with `share` no sensitive value of more than that share of
them. `sets` lists the columns that are known together instead, each set with k, share or both.
#}
{% test known_safe(model, quasi, m=none, k=1, share=none, sets=none, sensitive=none) %}
{{ privacy_sql.refuse_columns("known_safe", model, quasi, sensitive) }}
{{ privacy_sql.refuse_sets("known_safe", quasi, m, k, share, sets, sensitive) }}
{%- set asked = fromjson(privacy_sql.sets_of(quasi, m, k, share)) if sets is none else sets -%}
{%- set rows = privacy_sql.picked(model, quasi + ([] if sensitive is none else [sensitive])) -%}
{{ privacy_sql.reported(rows, privacy_sql.unsafe_known_columns(rows, sensitive, asked), sensitive) }}
{% endtest %}
