-- Groups cut by one more column, each with a number; alike combinations stay as they are.
-- in: groups (g, the columns as codes, n_rows), column, others    out: g, the other columns, n_rows
select
    dense_rank() over (order by g, {{ column }}) as g,
    {% for other in others %}
    {{ other }},
    {% endfor %}
    n_rows
from {{ groups }}
