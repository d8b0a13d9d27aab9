{#
Groups without l well-represented sensitive values; see criteria/l_diversity for the kinds. Whole numbers decide
`distinct` and `probabilistic`; the other two fail within 1e-9 of the limit. `c` is for `recursive`, which is strict.
out: g, n_rows, risk (the largest share of one value)    grain: unsafe group
#}
{% macro unsafe_l_diversity(relation, quasi, sensitive, l, kind, c) %}
with histogram as (
    {{ privacy_sql.group_histogram(relation, quasi, sensitive) }}
),
placed as (
    select
        g,
        n_rows,
        row_number() over (partition by g order by n_rows desc) as place
    from histogram
),
measured as (
    select
        g,
        cast(sum(n_rows) as bigint) as n_rows,
        count(*) as n_values,
        cast(max(n_rows) as {{ privacy_sql.double() }}) as n_top,
        cast(sum(case when place >= {{ l }} then n_rows else 0 end) as {{ privacy_sql.double() }}) as n_tail,
        cast(
            sum(cast(n_rows as {{ privacy_sql.double() }}) * ln(cast(n_rows as {{ privacy_sql.double() }})))
            as {{ privacy_sql.double() }}
        ) as n_log_n
    from placed
    group by g
)
select
    g,
    n_rows,
    n_top / cast(n_rows as {{ privacy_sql.double() }}) as risk
from measured
where
    {% if kind == "distinct" %}
    n_values < {{ l }}
    {% elif kind == "probabilistic" %}
    n_top * {{ l }} > n_rows
    {% elif kind == "recursive" %}
    n_top >= n_tail * ({{ privacy_sql.decimal(c) }} - {{ privacy_sql.decimal("1e-9") }})
    {% elif kind == "entropy" %}
    exp(
        ln(cast(n_rows as {{ privacy_sql.double() }})) - n_log_n / cast(n_rows as {{ privacy_sql.double() }})
    ) < {{ l }} + {{ privacy_sql.decimal("1e-9") }}
    {% else %}
    {{ privacy_sql.refuse("l_diverse", "kind is distinct, probabilistic, entropy or recursive") }}
    {% endif %}
{% endmacro %}
