-- Every value of several columns with its labels at every level, as codes: one statement for all of them.
-- in: columns [(levels (code, n_rows, l0..lH) as a query or relation, codes (code, c0..cH) or none, height, numeric)],
--     value (l0 of those levels),
--     highest (the largest height)
-- out: position, code, n_rows, number (0 if not a number), is_number, is_mapped, c0..    grain: column, value
{% for levels, codes, height, numeric in columns %}
{% set outer = loop %}
select
    cast({{ outer.index0 }} as bigint) as position,
    v.code,
    v.n_rows,
    {% if numeric %}
    coalesce({{ privacy_sql.number(value) }}, cast(0 as double)) as number,
    case when {{ privacy_sql.number(value) }} is null then 0 else 1 end as is_number,
    {% else %}
    cast(0 as double) as number,
    0 as is_number,
    {% endif %}
    case
        when
            v.code <> 0
            and (
                1 = 0
                {% for level in range(1, height + 1) %}
                or v.l{{ level }} is null
                {% endfor %}
            )
            then 0
        else 1
    end as is_mapped
    {% for level in range(highest + 1) %},
    {% if level == 0 or level > height %}
    v.code as c{{ level }}
    {% elif codes is not none %}
    c.c{{ level }}
    {% else %}
    min(v.code) over (partition by v.l{{ level }}) as c{{ level }}
    {% endif %}
    {% endfor %}

from {{ levels }} as v
{% if codes is not none %}
inner join {{ codes }} as c
    on v.code = c.code
{% endif %}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
