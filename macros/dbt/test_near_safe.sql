{#
In no group do more than a share of the people have near values, or none at all. `distance` is absolute (numbers at most `width`
apart), relative, hierarchical (by `hierarchy`, as in privacy.yml) or matrix (by `matrix`, {value: {value: distance}}).
#}
{% test near_safe(model, sensitive, quasi, width, share, distance="absolute", hierarchy=none, matrix=none) %}
{{ privacy_sql.refuse_columns("near_safe", model, quasi, sensitive) }}
{%- set own = {"width": width, "share": share, "distance": distance, "hierarchy": hierarchy, "matrix": matrix} -%}
{{ privacy_sql.refuse_requirement("near_safe", "near_safe", own) }}
{%- set rows = privacy_sql.picked(model, quasi + [sensitive]) -%}
{{ privacy_sql.reported(
    rows,
    privacy_sql.unsafe_interval_disclosure(rows, quasi, sensitive, width, share, distance, hierarchy, matrix),
    sensitive
) }}
{% endtest %}
