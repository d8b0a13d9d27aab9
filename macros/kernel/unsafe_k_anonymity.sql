{#
Groups of fewer than k people with the same quasi-identifiers; see criteria/k_anonymity.
out: g, n_rows, risk (the chance to pick out one person)    grain: unsafe group
#}
{% macro unsafe_k_anonymity(relation, quasi, k) %}
select
    g,
    n_rows,
    {{ privacy_sql.decimal(1) }} / cast(n_rows as {{ privacy_sql.double() }}) as risk
from (
    select
        dense_rank() over (order by {{ privacy_sql.apart(quasi) }}) as g,
        cast(count(*) as bigint) as n_rows
    from {{ relation }}
    group by {{ privacy_sql.apart(quasi) }}
) as sizes
where n_rows < {{ k }}
{% endmacro %}
