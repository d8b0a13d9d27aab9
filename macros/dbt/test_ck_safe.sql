{#
Nobody who knows the k most useful facts can guess a sensitive value with a chance of c or more. SQL decides
up to two facts.
#}
{% test ck_safe(model, sensitive, quasi, c, k=0) %}
{{ privacy_sql.refuse_columns("ck_safe", model, quasi, sensitive) }}
{{ privacy_sql.refuse_unless(
    k is integer and k >= 0 and k <= 2,
    "ck_safe", "SQL decides k = 0, 1 and 2; for more facts publish with Python and test matches_manifest"
) }}
{%- set limit = privacy_sql.number_text(c) -%}
{{ privacy_sql.refuse_unless(
    limit and limit | float > 0 and limit | float <= 1, "ck_safe", "c is a number above 0 and at most 1"
) }}
{%- set rows = privacy_sql.picked(model, quasi + [sensitive]) -%}
{{ privacy_sql.reported(rows, privacy_sql.unsafe_ck_safety(rows, quasi, sensitive, c, k), sensitive) }}
{% endtest %}
