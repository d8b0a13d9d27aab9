-- How many labels a column shows at each level of its hierarchy, and one of their codes.
-- in: columns [(codes, height)]    out: position, level, n_labels, code    grain: column, level
{% for codes, height in columns %}
{% set outer = loop %}
{% for level in range(height + 1) %}
select
    cast({{ outer.index0 }} as bigint) as position,
    cast({{ level }} as bigint) as level,
    cast(count(distinct c{{ level }}) as bigint) as n_labels,
    min(c{{ level }}) as code
from {{ codes }}
{% if not (loop.last and outer.last) %}
union all
{% endif %}
{% endfor %}
{% endfor %}
