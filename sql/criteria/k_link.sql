-- How many cells of each size the published marginals have once the sensitive value is summed out.
-- in: cliques (cells: g, n_people)
-- out: marginal (its number), n_people, n_cells, g (one such cell)    grain: marginal and size (and cell, by_group)
with sized as (
    {% for clique in cliques %}
    select
        cast({{ clique.number }} as bigint) as marginal,
        g,
        n_people
    from {{ clique.cells }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
)
select
    marginal,
    n_people,
    cast(count(*) as bigint) as n_cells,
    min(g) as g
from sized
group by
    marginal,
    n_people
    {% if by_group %},
    g
    {% endif %}
