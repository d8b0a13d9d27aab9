{# A compiler error unless k_anonymous, l_diverse, t_close or near_safe have the parameters they need, and no others. #}
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
    where, "c must be a number above 0, and only kind: recursive takes it"
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
    where, "only distance: hierarchical takes a hierarchy, and needs it"
) }}
{%- if own.get("hierarchy") is not none -%}
{{ privacy_sql.refuse_hierarchy(where, own["hierarchy"]) }}
{%- endif -%}
{{ privacy_sql.refuse_unless(t and t | float >= 0 and t | float <= 1, where, "t is a number from 0 to 1") }}
{%- elif name == "near_safe" -%}
{%- set known = ["width", "share", "distance", "hierarchy", "matrix"] -%}
{%- set width = privacy_sql.number_text(own.get("width")) -%}
{%- set share = privacy_sql.number_text(own.get("share")) -%}
{%- set distance = own.get("distance", "absolute") -%}
{{ privacy_sql.refuse_unless(
    distance in ["absolute", "relative", "hierarchical", "matrix"],
    where, "distance is absolute, relative, hierarchical or matrix"
) }}
{{ privacy_sql.refuse_unless(
    (distance == "hierarchical") == (own.get("hierarchy") is not none),
    where, "only distance: hierarchical takes a hierarchy, and needs it"
) }}
{{ privacy_sql.refuse_unless(
    (distance == "matrix") == (own.get("matrix") is not none), where, "only distance: matrix takes a matrix, and needs it"
) }}
{%- if distance == "hierarchical" -%}
{{ privacy_sql.refuse_hierarchy(where, own["hierarchy"]) }}
{%- endif -%}
{%- if distance == "matrix" -%}
{{ privacy_sql.refuse_matrix(where, own["matrix"]) }}
{%- endif -%}
{{ privacy_sql.refuse_unless(width and width | float >= 0, where, "width is a number of at least 0") }}
{{ privacy_sql.refuse_unless(
    distance != "hierarchical" or width | float <= 1, where, "width of distance: hierarchical is at most 1"
) }}
{{ privacy_sql.refuse_unless(
    share and share | float > 0 and share | float < 1 and share | length <= 8,
    where, "share is a number between 0 and 1 with up to 6 decimals"
) }}
{%- elif name == "risk_safe" -%}
{%- set known = ["at_most", "measure", "above"] -%}
{%- set limit = privacy_sql.number_text(own.get("at_most")) -%}
{%- set above = privacy_sql.number_text(own.get("above")) -%}
{{ privacy_sql.refuse_unless(own.get("measure") in ["average", "above"], where, "measure is average or above") }}
{{ privacy_sql.refuse_unless(
    (own.get("measure") == "above") == (own.get("above") is not none), where, "only measure: above takes above, and needs it"
) }}
{{ privacy_sql.refuse_unless(
    limit and limit | float >= 0 and limit | float < 1 and limit | length <= 8
    and (own.get("measure") == "above" or limit | float > 0),
    where, "at_most is a number between 0 and 1 with up to 6 decimals"
) }}
{{ privacy_sql.refuse_unless(
    own.get("above") is none or (above and above | float > 0 and above | float < 1 and above | length <= 8),
    where, "above is a number between 0 and 1 with up to 6 decimals"
) }}
{%- else -%}
{{ privacy_sql.refuse(where, "leave_out knows k_anonymous, l_diverse, t_close and near_safe") }}
{%- endif -%}
{{ privacy_sql.refuse_unless(own.keys() | reject("in", known) | list == [], where, ["parameters are", known | join(", ")] | join(" ")) }}
{% endmacro %}
