-- How often each sensitive value occurs in each group.
-- in: candidate (g, s, n_rows)    out: g, s, n_rows    grain: group, sensitive value
select
    g,
    {% if sensitive %}
    s,
    {% endif %}
    cast(sum(n_rows) as bigint) as n_rows
from {{ candidate }}
group by
    g
    {% if sensitive %},
    s
    {% endif %}
