-- The published labels and classes as numbers to learn from; equal rows are counted.
-- in: histogram (k1.., s, n_rows) of what is published, aliases    out: k1.., class, n_rows    grain: labels, class
select
    {% for alias in aliases %}
    {{ alias }},
    {% endfor %}
    s as class,
    cast(sum(n_rows) as bigint) as n_rows
from {{ histogram }}
group by
    {% for alias in aliases %}
    {{ alias }},
    {% endfor %}
    s
