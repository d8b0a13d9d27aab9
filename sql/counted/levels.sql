-- Every value of a column at every level of its hierarchy.
-- in: dictionary (code, value), a recipe or a lookup relation (l0..lH)    out: code, n_rows, l0..lH    grain: value
select
    d.code,
    d.n_rows,
    d.value as l0
    {% for level in range(1, height + 1) %},
    {% if lookup is not none %}
    {% if loop.last %}
    case when d.value is null or t.l0 is not null then cast('*' as varchar) end as l{{ level }}
    {% else %}
    t.l{{ level }}
    {% endif %}
    {% else %}
    {{ privacy_sql.recode(value, recipe, level) }} as l{{ level }}
    {% endif %}
    {% endfor %}

from {{ dictionary }} as d
{% if lookup is not none %}
left join {{ lookup }} as t
    on cast(d.value as varchar) = t.l0
{% endif %}
