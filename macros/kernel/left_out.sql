{#
The groups that fail a requirement, each written as its dbt test: [['k_anonymous', {'k': 5}], ['t_close', {'t': 0.3}]].
out: g    grain: unsafe group
#}
{% macro left_out(relation, quasi, sensitive, requirements) %}
{% for name, own in requirements %}
select g
from (
    {% if name == "k_anonymous" %}
    {{ privacy_sql.unsafe_k_anonymity(relation, quasi, own["k"]) }}
    {% elif name == "l_diverse" %}
    {{ privacy_sql.unsafe_l_diversity(relation, quasi, sensitive, own["l"], own.get("kind", "distinct"), own.get("c")) }}
    {% elif name == "t_close" %}
    {{ privacy_sql.unsafe_t_closeness(
        relation, quasi, sensitive, own["t"], own.get("distance", "equal"), own.get("hierarchy")
    ) }}
    {% elif name == "near_safe" %}
    {{ privacy_sql.unsafe_interval_disclosure(
        relation, quasi, sensitive, own["width"], own["share"], own.get("distance", "absolute"), own.get("hierarchy"), own.get("matrix")
    ) }}
    {% else %}
    {{ privacy_sql.refuse("leave_out", "it knows k_anonymous, l_diverse, t_close and near_safe") }}
    {% endif %}
) as unsafe_{{ loop.index }}
{% if not loop.last %}
union
{% endif %}
{% endfor %}
{% endmacro %}
