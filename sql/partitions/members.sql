-- A relation by combination with the group of each.
-- in: trial (c, g), relation (c, columns, n_rows)    out: g, k1, columns, n_rows    grain: as relation
select
    trial.g,
    trial.g as k1,
    {% for column in columns %}
    relation.{{ column }},
    {% endfor %}
    relation.n_rows
from {{ trial }} as trial
inner join {{ relation }} as relation
    on trial.c = relation.c
