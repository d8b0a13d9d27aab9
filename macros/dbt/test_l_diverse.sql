{#
Every group has l well-represented sensitive values: `distinct` (the default), `probabilistic` (no value above a share
of 1/l), `entropy`, or `recursive` with c (the commonest value occurs less than c times as often as those from the l-th on).
#}
{% test l_diverse(model, sensitive, quasi, l, kind="distinct", c=none) %}
{{ privacy_sql.refuse_columns("l_diverse", model, quasi, sensitive) }}
{{ privacy_sql.refuse_unless(
    kind in ("distinct", "probabilistic", "entropy", "recursive"),
    "l_diverse", "kind is distinct, probabilistic, entropy or recursive"
) }}
{{ privacy_sql.refuse_unless(l is integer and l >= 1, "l_diverse", "l is a whole number of at least 1") }}
{{ privacy_sql.refuse_unless(
    (kind == "recursive") == (c is not none) and (c is none or 0 < c | float < 1e300),
    "l_diverse", "c is a number above 0 and goes with kind: recursive"
) }}
{%- set rows = privacy_sql.picked(model, quasi + [sensitive]) -%}
{{ privacy_sql.reported(rows, privacy_sql.unsafe_l_diversity(rows, quasi, sensitive, l, kind, c), sensitive) }}
{% endtest %}
