{#
What a failing test shows about its unsafe groups: their sizes, how many have each size, and the largest risk. It has no
value of any column. A relation without rows fails: an empty table is never safe. So do sensitive values that the engine
treats as equal and a reader does not (a collation, 1.0 and 1.00): the model must say whether they count as one.
#}
{% macro reported(rows, unsafe, sensitive=none) %}
select
    n_rows,
    cast(count(*) as bigint) as n_groups,
    max(risk) as risk
from (
    {{ unsafe }}
) as unsafe_groups
group by n_rows
union all
select
    cast(0 as bigint) as n_rows,
    cast(1 as bigint) as n_groups,
    {{ privacy_sql.decimal(1) }} as risk
where
    not exists (select 1 from {{ rows }})
    {% if sensitive is not none %}
    or exists (
        select 1
        from {{ rows }}
        group by {{ adapter.quote(sensitive) }}
        having count(distinct md5(cast({{ adapter.quote(sensitive) }} as varchar))) > 1
    )
    {% endif %}
{% endmacro %}
