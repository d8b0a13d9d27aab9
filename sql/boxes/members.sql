-- A relation by combination with the group of each.
-- in: assigned (c, g), relation (g as combination, columns, n_rows)    out: g, k1, columns, n_rows    grain: as relation
select
    assigned.g,
    assigned.g as k1,
    {% for column in columns %}
    relation.{{ column }},
    {% endfor %}
    relation.n_rows
from {{ assigned }} as assigned
inner join {{ relation }} as relation
    on assigned.c = relation.g
