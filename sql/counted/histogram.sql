-- How often each sensitive value occurs in each group.
-- in: candidate (g, s, n_rows), counted: whether its rows are groups and values already
-- out: g, s, n_rows    grain: group, sensitive value
select
    g,
    {% if sensitive %}
    s,
    {% endif %}
    {% if counted %}
    n_rows
    {% else %}
    cast(sum(n_rows) as bigint) as n_rows
    {% endif %}
from {{ candidate }}
{% if not counted %}
group by
    g
    {% if sensitive %},
    s
    {% endif %}
{% endif %}
