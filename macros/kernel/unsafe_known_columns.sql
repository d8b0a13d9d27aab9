{#
Groups of fewer than k people with the same values in a set of columns, and groups in which more than a share have one sensitive value; see
criteria/known_columns. `sets`: [{'columns': [...], 'k': 5, 'share': 0.5}], each with k, a share (up to 6 decimals) or both.
out: g, n_rows, risk (the chance to pick out one person, or the largest share)    grain: unsafe group of a set
#}
{% macro unsafe_known_columns(relation, sensitive, sets) %}
{% for each in sets %}
{% if each.get("share") is not none %}
select
    g,
    n_rows,
    cast(n_top as {{ privacy_sql.double() }}) / cast(n_rows as {{ privacy_sql.double() }}) as risk
from (
    select
        g,
        cast(sum(n_rows) as bigint) as n_rows,
        max(n_rows) as n_top
    from (
        {{ privacy_sql.group_histogram(relation, each["columns"], sensitive) }}
    ) as histogram_{{ loop.index }}
    group by g
) as measured_{{ loop.index }}
where n_top * 1000000 > {{ privacy_sql.millionths(each["share"]) }}
union all
{% endif %}
select
    g,
    n_rows,
    risk
from (
    {{ privacy_sql.unsafe_k_anonymity(relation, each["columns"], each.get("k", 1)) }}
) as few_{{ loop.index }}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
{% endmacro %}
