-- The values of the targets in some columns: each step keeps only these.
-- in: combinations (c, q1..), columns, block (c between)    out: the columns    grain: combination of the columns
select distinct
    {% for column in columns %}
    {{ column }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ combinations }}
{% if block is not none %}
where c between {{ block[0] }} and {{ block[1] }}
{% endif %}
