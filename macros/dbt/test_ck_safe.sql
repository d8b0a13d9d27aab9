{#
Nobody's sensitive value can be guessed with a chance of c or more. SQL decides k = 0, an adversary without further
facts; for more facts publish with Python and use matches_manifest. Fails with the sizes of unsafe groups.
#}
{% test ck_safe(model, sensitive, quasi_identifiers, c, k=0) %}
{%- if k != 0 -%}
{{ exceptions.raise_compiler_error("ck_safe: SQL alone decides k = 0; for more facts use matches_manifest") }}
{%- endif -%}
with groups as (
    {{ privacy_sql.group_risk(model, quasi_identifiers, sensitive) }}
)
select
    n_rows,
    cast(count(*) as bigint) as n_groups
from groups
where largest_share >= {{ privacy_sql.exact(c, "-1e-9") }}
group by n_rows
{{ privacy_sql.or_empty(model) }}
{% endtest %}
