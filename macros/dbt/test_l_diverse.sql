{#
Every group has l well-represented sensitive values: `distinct` (the default), `probabilistic` (no value above a share
of 1/l) or `entropy`. Fails with the sizes of the groups that have not, and how many groups have each size.
#}
{% test l_diverse(model, sensitive, quasi_identifiers, l, kind="distinct") %}
{%- if kind not in ("distinct", "probabilistic", "entropy") -%}
{{ exceptions.raise_compiler_error("l_diverse: kind is distinct, probabilistic or entropy; for others use matches_manifest") }}
{%- endif -%}
{%- if l is not integer or l < 1 -%}
{{ exceptions.raise_compiler_error("l_diverse: l is a whole number of at least 1") }}
{%- endif -%}
with histogram as (
    {{ privacy_sql.histogram(model, quasi_identifiers, sensitive) }}
),
groups as (
    select
        g,
        cast(sum(n_rows) as bigint) as n_rows,
        count(*) as n_values,
        max(n_rows) as n_top,
        sum(
            cast(n_rows as {{ privacy_sql.double() }})
            * ln(cast(n_rows as {{ privacy_sql.double() }}))
        ) as n_log_n
    from histogram
    group by g
)
select
    n_rows,
    cast(count(*) as bigint) as n_groups
from groups
where
    {% if kind == "distinct" %}
    n_values < {{ l }}
    {% elif kind == "probabilistic" %}
    n_top * {{ l }} > n_rows
    {% else %}
    exp(
        ln(cast(n_rows as {{ privacy_sql.double() }}))
        - n_log_n / cast(n_rows as {{ privacy_sql.double() }})
    ) < {{ privacy_sql.exact(l, "1e-9") }}
    {% endif %}
group by n_rows
{{ privacy_sql.or_empty(model) }}
{% endtest %}
