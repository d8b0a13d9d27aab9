{#
The relation that a model generalises has a label for every value, no NULL where `not_null` refuses it, and one row for
each `person`: `of` is that relation, `quasi` gives columns their hierarchies as in `generalise`, `condition` is its `where`.
Fails with the column and its number of rows; shows no value.
#}
{% test covered(model, of, quasi={}, not_null=[], person=none, condition=none) %}
{%- set columns = quasi.keys() | list + not_null | list + ([] if person is none else [person]) -%}
{{ privacy_sql.refuse_columns("covered", of, columns) }}
{%- for recipe in quasi.values() -%}
{{ privacy_sql.refuse_hierarchy("covered", recipe) }}
{%- endfor -%}
{%- set unsure = fromjson(privacy_sql.may_be_outside(quasi)) -%}
with ps_rows as (
    select {{ privacy_sql.columns(columns | unique(case_sensitive=true) | list) }}
    from (select * from {{ of }}) as ps_model
    {% if condition is not none %}
    where {{ condition }}
    {% endif %}
)
{% for column in unsure %}
select
    {{ privacy_sql.literal(column) }} as column_name,
    'no label' as reason,
    cast(count(*) as bigint) as n_rows
from ps_rows
where {{ privacy_sql.outside(column, quasi[column]) }}
having count(*) > 0
union all
{% endfor %}
{% for column in not_null %}
select
    {{ privacy_sql.literal(column) }} as column_name,
    'null' as reason,
    cast(count(*) as bigint) as n_rows
from ps_rows
where {{ adapter.quote(column) }} is null
having count(*) > 0
union all
{% endfor %}
{% if person is not none %}
select
    {{ privacy_sql.literal(person) }} as column_name,
    'repeated' as reason,
    cast(count(*) - count(distinct {{ adapter.quote(person) }}) as bigint) as n_rows
from ps_rows
having count(*) > count(distinct {{ adapter.quote(person) }})
union all
{% endif %}
select
    '' as column_name,
    'no rows' as reason,
    cast(0 as bigint) as n_rows
where not exists (select 1 from ps_rows)
{% endtest %}
