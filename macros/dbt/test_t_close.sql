{#
The sensitive values of every group are distributed nearly as in the whole table: at most t apart. `distance` is equal
(all values equally far apart), ordered (numbers, by rank) or hierarchical (by `hierarchy`, as in privacy.yml).
#}
{% test t_close(model, sensitive, quasi, t, distance="equal", hierarchy=none) %}
{{ privacy_sql.refuse_columns("t_close", model, quasi, sensitive) }}
{{ privacy_sql.refuse_requirement("t_close", "t_close", {"t": t, "distance": distance, "hierarchy": hierarchy}) }}
{%- set rows = privacy_sql.picked(model, quasi + [sensitive]) -%}
{{ privacy_sql.reported(rows, privacy_sql.unsafe_t_closeness(rows, quasi, sensitive, t, distance, hierarchy), sensitive) }}
{% endtest %}
