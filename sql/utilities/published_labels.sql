-- How many rows are published under each label.
-- in: published (k1.., n_rows as people), aliases    out: position, code, n_rows    grain: column, label
{% for alias in aliases %}
select
    cast({{ loop.index0 }} as bigint) as position,
    {{ alias }} as code,
    cast(sum(n_rows) as bigint) as n_rows
from {{ published }}
group by {{ alias }}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
