{#
What a failing test shows of its unsafe groups: their sizes, how many have each size, and the largest risk. Holds no
value of any column. A relation without rows fails: nothing is safe because nothing is there.
#}
{% macro reported(relation, unsafe) %}
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
where not exists (select 1 from {{ relation }})
{% endmacro %}
