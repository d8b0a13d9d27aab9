{#
The risk of re-identification is at most `at_most`: the mean over people of 1 in their group (measure: average), or the share of
people whose risk is above `above` (measure: above). The largest risk is k_anonymous in other words.
#}
{% test risk_safe(model, quasi, at_most, measure="average", above=none) %}
{{ privacy_sql.refuse_columns("risk_safe", model, quasi) }}
{%- set own = {"at_most": at_most, "measure": measure, "above": above} -%}
{{ privacy_sql.refuse_requirement("risk_safe", "risk_safe", own) }}
{%- set rows = privacy_sql.picked(model, quasi) -%}
{{ privacy_sql.reported(rows, privacy_sql.unsafe_reidentification_risk(rows, quasi, at_most, measure, above)) }}
{% endtest %}
