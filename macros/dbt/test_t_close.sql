{#
The sensitive values of every group are distributed nearly as in the whole table: at most t apart. `distance` is equal
(all values equally far apart), ordered (numbers, by rank) or hierarchical (by `hierarchy`, as in privacy.yml).
#}
{% test t_close(model, sensitive, quasi, t, distance="equal", hierarchy=none) %}
{{ privacy_sql.refuse_columns("t_close", model, quasi, sensitive) }}
{{ privacy_sql.refuse_unless(
    distance in ("equal", "ordered", "hierarchical"), "t_close", "distance is equal, ordered or hierarchical"
) }}
{{ privacy_sql.refuse_unless(
    (distance == "hierarchical") == (hierarchy is not none), "t_close", "hierarchy goes with distance: hierarchical"
) }}
{%- if hierarchy is not none -%}
{{ privacy_sql.refuse_hierarchy("t_close", hierarchy) }}
{%- endif -%}
{{ privacy_sql.refuse_unless(0 <= t | float(-1) <= 1, "t_close", "t is a number from 0 to 1") }}
{%- set rows = privacy_sql.picked(model, quasi + [sensitive]) -%}
{{ privacy_sql.reported(rows, privacy_sql.unsafe_t_closeness(rows, quasi, sensitive, t, distance, hierarchy), sensitive) }}
{% endtest %}
