{#
Every person shares the quasi-identifiers with at least k - 1 others. Fails with the sizes of smaller groups and how
many groups have each size.
#}
{% test k_anonymous(model, quasi_identifiers, k) %}
{%- if k is not integer or k < 1 -%}
{{ exceptions.raise_compiler_error("k_anonymous: k is a whole number of at least 1") }}
{%- endif -%}
with groups as (
    select cast(count(*) as bigint) as n_rows
    from {{ model }}
    group by {{ privacy_sql.columns(quasi_identifiers) }}
)
select
    n_rows,
    cast(count(*) as bigint) as n_groups
from groups
where n_rows < {{ k }}
group by n_rows
{{ privacy_sql.or_empty(model) }}
{% endtest %}
