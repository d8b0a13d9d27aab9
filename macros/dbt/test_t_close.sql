{#
The sensitive values of every group are distributed nearly as in the whole table: at most t apart, all values equally
far from one another. Fails with the sizes of the groups that are farther, and how many groups have each size.
#}
{% test t_close(model, sensitive, quasi_identifiers, t) %}
with histogram as (
    {{ privacy_sql.histogram(model, quasi_identifiers, sensitive) }}
),
shares as (
    select
        g,
        sum(n_rows) over (partition by g) as n_group,
        {{ privacy_sql.ratio("n_rows", "sum(n_rows) over (partition by g)") }} as share,
        {{ privacy_sql.ratio("sum(n_rows) over (partition by s)", "sum(n_rows) over ()") }} as overall
    from histogram
),
groups as (
    select
        g,
        cast(max(n_group) as bigint) as n_rows,
        -- a value absent from the group adds as much as all present ones together take away
        sum(case when share > overall then share - overall else 0 end) as distance
    from shares
    group by g
)
select
    n_rows,
    cast(count(*) as bigint) as n_groups
from groups
where distance > {{ privacy_sql.exact(t, "-1e-9") }}
group by n_rows
{{ privacy_sql.or_empty(model) }}
{% endtest %}
