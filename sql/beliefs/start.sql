-- What the sum over people starts from: counts per combination of the columns that matter and sensitive value.
-- in: base (q1.., s, n_rows), columns    out: the columns, s, w    grain: combination, sensitive value
select
    {% for column in columns %}
    {{ column }},
    {% endfor %}
    s,
    cast(sum(n_rows) as double) as w
from {{ base }}
group by
    {% for column in columns %}
    {{ column }},
    {% endfor %}
    s
