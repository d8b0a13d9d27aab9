-- How many people of each group have each sensitive value; the worst case depends on nothing else.
-- in: histogram (g, s, n_rows), per_value    out: g, s (where some values have limits of their own), n_rows
-- grain: group, sensitive value
select
    g,
    {% if per_value %}
    s,
    {% endif %}
    n_rows
from {{ histogram }}
