-- How many values each level of a hierarchy leaves apart, NULL included.
-- in: codes (code, c0..cH)    out: level, n_values    grain: level
{% for level in range(height + 1) %}
select
    cast({{ level }} as bigint) as level,
    cast(count(distinct c{{ level }}) as bigint) as n_values
from {{ codes }}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
order by level
