-- The published labels of several columns.
-- in: columns [(number of the column, dictionary (code, value))]    out: k, code, label    grain: column, label
{% for k, dictionary in columns %}
select
    cast({{ k }} as bigint) as k,
    code,
    cast(value as varchar) as label
from {{ dictionary }}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
