-- The distinct values of a column with their codes and labels at every level.
-- in: levels (code, l0..lH), codes (code, c0..cH), height    out: l0..lH, c0..cH    grain: value
select
    {% for level in range(height + 1) %}
    labels.l{{ level }},
    codes.c{{ level }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ levels }} as labels
inner join {{ codes }} as codes
    on labels.code = codes.code
