-- The values of a column as the noisy table shows them.
-- in: dictionary (code, value) at level 0, else levels (code, l1..lH)    out: code, label    grain: value
select
    code,
    {% if level == 0 %}
    cast(value as varchar) as label
    {% else %}
    l{{ level }} as label
    {% endif %}
from {{ relation }}
