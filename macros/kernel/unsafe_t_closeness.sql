{#
Groups farther than t from the whole table, or nearer to that limit than 1e-9; see criteria/t_closeness.
`distance` is equal, ordered or hierarchical (by `hierarchy`). Where a value is not a number (ordered) or is outside the
hierarchy, no group passes.
out: g, n_rows, risk (the distance)    grain: unsafe group
#}
{% macro unsafe_t_closeness(relation, quasi, sensitive, t, distance, hierarchy) %}
with histogram as (
    {{ privacy_sql.group_histogram(relation, quasi, sensitive) }}
),
{% if distance == "ordered" %}
{{ privacy_sql.ordered_distances() }}
{% elif distance == "hierarchical" %}
{{ privacy_sql.level_distances(hierarchy) }}
{% elif distance == "equal" %}
{{ privacy_sql.level_distances(none) }}
{% else %}
{{ privacy_sql.refuse("t_close", "distance is equal, ordered or hierarchical") }}
{% endif %}
select
    g,
    n_rows,
    distance as risk
from distances
where
    n_stray > 0
    or distance > {{ privacy_sql.decimal(t) }} - {{ privacy_sql.decimal("1e-9") }}
{% endmacro %}
