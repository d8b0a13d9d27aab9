-- The values of several ordered columns along their axes, all in one statement: the place of each, from 1, with NULL at 0,
-- and its number if every value of the column is a number; then places are in numeric order, else in that of the values.
-- in: columns [(axis, dictionary (code, value), ends: of stored numbers, whose codes are in their order, the codes that sort
--     at the ends, where alone something may be no number, such as an infinity; else none)], value
-- out: axis, code, place, size, is_number    grain: axis, value
{% set texts = columns | selectattr(2, "none") | list %}
{% if texts %}
with listed as (
    {% for axis, dictionary, ends in texts %}
    select
        cast({{ axis }} as bigint) as axis,
        code,
        cast(value as varchar) as value
    from {{ dictionary }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
sized as (
    select
        d.axis,
        d.code,
        {{ privacy_sql.number(value) }} as size
    from listed as d
),
judged as (
    select
        axis,
        code,
        size,
        min(case when code <> 0 and size is null then 0 else 1 end) over (partition by axis) as is_number
    from sized
)
select
    axis,
    code,
    -- the codes of values are in their order
    case
        when code = 0 then cast(0 as int)
        else cast(
            dense_rank() over (
                partition by
                    axis,
                    case when code = 0 then 0 else 1 end
                order by case when is_number = 1 then size else cast(code as double) end
            ) as int
        )
    end as place,
    case when is_number = 1 then size end as size,
    is_number
from judged
{% endif %}
{% for axis, dictionary, ends in columns if ends is not none %}
{% if texts or not loop.first %}
union all
{% endif %}
select
    cast({{ axis }} as bigint) as axis,
    d.code,
    cast(d.code as int) as place,
    case when others.n = 0 then cast(d.value as double) end as size,
    case when others.n = 0 then 1 else 0 end as is_number
from {{ dictionary }} as d
cross join (
    select cast(coalesce(sum(case when {{ privacy_sql.is_number(value) }} then 0 else 1 end), 0) as bigint) as n
    from {{ dictionary }} as d
    where
        d.code <> 0
        and d.code in ({% for code in ends %}{{ code }}{% if not loop.last %}, {% endif %}{% endfor %})
) as others
{% endfor %}
