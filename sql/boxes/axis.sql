-- The values of an ordered column along one axis: its place, and its number where it has one. NULL comes first.
-- in: dictionary (code, value), numeric, in_order (whether codes are in the order of the values, which are numbers)
-- out: code, place, size    grain: value
{% if in_order %}
select
    d.code,
    cast(d.code as int) as place,
    {% if numeric %}
    cast(d.value as double) as size
    {% else %}
    cast(null as double) as size
    {% endif %}

from {{ dictionary }} as d
{% else %}
with sized as (
    select
        d.code,
        {% if numeric %}
        {{ privacy_sql.number(value) }} as size,
        {% else %}
        cast(null as double) as size,
        {% endif %}
        d.value
    from {{ dictionary }} as d
)
select
    code,
    cast(dense_rank() over (order by {% if numeric %}size{% else %}value{% endif %}) as int) as place,
    size
from sized
where code <> 0
union all
select
    code,
    cast(0 as int) as place,
    cast(null as double) as size
from sized
where code = 0
{% endif %}
