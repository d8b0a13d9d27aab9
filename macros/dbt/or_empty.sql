{# A failing row for a relation without rows: nothing is safe because nothing is there. #}
{% macro or_empty(relation) %}
union all
select
    cast(0 as bigint) as n_rows,
    cast(1 as bigint) as n_groups
where not exists (select 1 from {{ relation }})
{% endmacro %}
