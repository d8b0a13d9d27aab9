-- The buckets of Anatomy as a keyed base: how many rows of each bucket share quasi-identifiers and value.
-- in: placed (g, q1.., value_code), codes [q1..]    out: k1, q1.., s, n_rows    grain: bucket, combination
select
    g as k1,
    {% for column in codes %}
    {{ column }},
    {% endfor %}
    value_code as s,
    cast(count(*) as bigint) as n_rows
from {{ placed }}
group by
    g,
    {% for column in codes %}
    {{ column }},
    {% endfor %}
    value_code
