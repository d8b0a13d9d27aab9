-- The label behind a code.
-- in: levels (code, value or l0..lH), codes (code, c0..cH)    out: label    grain: one row
{% if level == 0 %}
select value as label
from {{ levels }}
where code = {{ code }}
{% else %}
select min(l.l{{ level }}) as label
from {{ levels }} as l
inner join {{ codes }} as c
    on l.code = c.code
where c.c{{ level }} = {{ code }}
{% endif %}
