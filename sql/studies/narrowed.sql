-- Groups cut by one more column, each with a number, without those that no column can split.
-- in: groups (g, the columns as codes, n_rows), column, others    out: g, the other columns, n_rows
with numbered as (
    select
        dense_rank() over (order by g, {{ column }}) as g,
        count(*) over (partition by g, {{ column }}) as n_combinations,
        {% for other in others %}
        {{ other }},
        {% endfor %}
        n_rows
    from {{ groups }}
)
select
    g,
    {% for other in others %}
    {{ other }},
    {% endfor %}
    n_rows
from numbered
where n_combinations > 1
