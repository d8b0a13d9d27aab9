{#
Every group has l well-represented sensitive values: `distinct` (the default), `probabilistic` (no value above a share
of 1/l), `entropy`, or `recursive` with c (the most common value occurs less than c times as often as those from the l-th on).
#}
{% test l_diverse(model, sensitive, quasi, l, kind="distinct", c=none) %}
{{ privacy_sql.refuse_columns("l_diverse", model, quasi, sensitive) }}
{{ privacy_sql.refuse_requirement("l_diverse", "l_diverse", {"l": l, "kind": kind, "c": c}) }}
{%- set rows = privacy_sql.picked(model, quasi + [sensitive]) -%}
{{ privacy_sql.reported(rows, privacy_sql.unsafe_l_diversity(rows, quasi, sensitive, l, kind, c), sensitive) }}
{% endtest %}
