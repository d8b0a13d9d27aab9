{# A compiler error unless k_anonymous, l_diverse or t_close have the parameters they need, and no others. #}
{% macro refuse_requirement(where, name, own) %}
{%- if name == "k_anonymous" -%}
{%- set known = ["k"] -%}
{{ privacy_sql.refuse_unless(own.get("k") is integer and own["k"] >= 1, where, "k is a whole number of at least 1") }}
{%- elif name == "l_diverse" -%}
{%- set known = ["l", "kind", "c"] -%}
{%- set c = privacy_sql.number_text(own.get("c")) -%}
{{ privacy_sql.refuse_unless(
    own.get("kind", "distinct") in ["distinct", "probabilistic", "entropy", "recursive"],
    where, "kind is distinct, probabilistic, entropy or recursive"
) }}
{{ privacy_sql.refuse_unless(own.get("l") is integer and own["l"] >= 1, where, "l is a whole number of at least 1") }}
{{ privacy_sql.refuse_unless(
    (own.get("kind") == "recursive") == (own.get("c") is not none) and (own.get("c") is none or (c and c | float > 0)),
    where, "c is a number above 0 and goes with kind: recursive"
) }}
{%- elif name == "t_close" -%}
{%- set known = ["t", "distance", "hierarchy"] -%}
{%- set t = privacy_sql.number_text(own.get("t")) -%}
{{ privacy_sql.refuse_unless(
    own.get("distance", "equal") in ["equal", "ordered", "hierarchical"],
    where, "distance is equal, ordered or hierarchical"
) }}
{{ privacy_sql.refuse_unless(
    (own.get("distance") == "hierarchical") == (own.get("hierarchy") is not none),
    where, "hierarchy goes with distance: hierarchical"
) }}
{%- if own.get("hierarchy") is not none -%}
{{ privacy_sql.refuse_hierarchy(where, own["hierarchy"]) }}
{%- endif -%}
{{ privacy_sql.refuse_unless(t and t | float >= 0 and t | float <= 1, where, "t is a number from 0 to 1") }}
{%- else -%}
{{ privacy_sql.refuse(where, "leave_out knows k_anonymous, l_diverse and t_close") }}
{%- endif -%}
{{ privacy_sql.refuse_unless(own.keys() | reject("in", known) | list == [], where, ["parameters are", known | join(", ")] | join(" ")) }}
{% endmacro %}
