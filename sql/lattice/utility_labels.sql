-- What every label of every level stands for in the source.
-- in: columns [(codes (code, c0..cH), levels (code, n_rows, l0), height, numeric)]
-- out: position, level, code, n_leaves, n_rows, weight (sum of n * ln n), low, high    grain: column, level, label
{% for codes, levels, height, numeric in columns %}
{% set outer = loop %}
{% for level in range(height + 1) %}
select
    cast({{ outer.index0 }} as bigint) as position,
    cast({{ level }} as bigint) as level,
    {% if codes is none %}
    v.code,
    {% else %}
    c.c{{ level }} as code,
    {% endif %}
    cast(count(*) as bigint) as n_leaves,
    cast(sum(v.n_rows) as bigint) as n_rows,
    cast(
        sum(case when v.n_rows > 0 then cast(v.n_rows as double) * ln(cast(v.n_rows as double)) else cast(0 as double) end) as double
    ) as weight,
    {% if numeric %}
    min(cast(v.l0 as double)) as low,
    max(cast(v.l0 as double)) as high
    {% else %}
    cast(null as double) as low,
    cast(null as double) as high
    {% endif %}
from {{ levels }} as v
{% if codes is not none %}
inner join {{ codes }} as c
    on v.code = c.code
{% endif %}
group by
    {% if codes is none %}
    v.code
    {% else %}
    c.c{{ level }}
    {% endif %}
{% if not (loop.last and outer.last) %}
union all
{% endif %}
{% endfor %}
{% endfor %}
