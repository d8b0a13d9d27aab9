-- The counts of a marginal by the codes of its cells.
-- in: marginal (g, columns, n_rows), columns    out: g, columns, n_rows    grain: cell of the marginal
select
    g,
    {% for column in columns %}
    {{ column }},
    {% endfor %}
    n_rows
from {{ marginal }}
