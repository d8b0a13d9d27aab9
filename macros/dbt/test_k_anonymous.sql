{# Every person shares the quasi-identifiers with at least k - 1 others. #}
{% test k_anonymous(model, quasi, k) %}
{{ privacy_sql.refuse_columns("k_anonymous", model, quasi) }}
{{ privacy_sql.refuse_requirement("k_anonymous", "k_anonymous", {"k": k}) }}
{%- set rows = privacy_sql.picked(model, quasi) -%}
{{ privacy_sql.reported(rows, privacy_sql.unsafe_k_anonymity(rows, quasi, k)) }}
{% endtest %}
