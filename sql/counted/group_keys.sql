-- The key codes of one group.
-- in: members (g, k1..), keys, group    out: k1..    grain: one row
select
    {% for alias in keys %}
    min({{ alias }}) as {{ alias }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ members }}
where g = {{ group }}
