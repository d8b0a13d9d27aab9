-- The labels that values of the table have at one level of each hierarchy, by the place of the column.
-- in: columns [(levels (l0..lH), level)]    out: position, label    grain: position, label
{% for levels, level in columns %}
select distinct
    {{ loop.index }} as position,
    l{{ level }} as label
from {{ levels }}
where l{{ level }} is not null
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
