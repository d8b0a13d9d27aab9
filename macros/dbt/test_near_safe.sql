{# In no group do more than a share of the people have numbers at most `width` apart, or none at all. #}
{% test near_safe(model, sensitive, quasi, width, share) %}
{{ privacy_sql.refuse_columns("near_safe", model, quasi, sensitive) }}
{{ privacy_sql.refuse_requirement("near_safe", "near_safe", {"width": width, "share": share}) }}
{%- set rows = privacy_sql.picked(model, quasi + [sensitive]) -%}
{{ privacy_sql.reported(rows, privacy_sql.unsafe_interval_disclosure(rows, quasi, sensitive, width, share), sensitive) }}
{% endtest %}
