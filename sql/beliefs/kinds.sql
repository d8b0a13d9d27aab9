-- The numbered combinations in their order.
-- in: combinations (c, q1.., n_rows), columns    out: q1.., n_rows    grain: combination
select
    {% for column in columns %}
    {{ column }},
    {% endfor %}
    n_rows
from {{ combinations }}
order by c
