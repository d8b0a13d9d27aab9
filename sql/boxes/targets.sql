-- How the boxes are cut: along which way, where, and the number of their first part.
-- in: accepted (box, way, trial, ordered, lowest), cuts [a relation (box, way, edge, [edge_c]) for each trial], relaxed
-- out: box, way, ordered, lowest, edge, [edge_c]    grain: box
with edges as (
    {% for relation in cuts %}
    select
        box,
        way,
        {% if relaxed %}
        edge_c,
        {% endif %}
        edge,
        cast({{ loop.index0 }} as bigint) as trial
    from {{ relation }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
)
select
    accepted.box,
    accepted.way,
    accepted.ordered,
    accepted.lowest,
    {% if relaxed %}
    edges.edge_c,
    {% endif %}
    edges.edge
from {{ accepted }} as accepted
left join edges
    on accepted.box = edges.box
    and accepted.way = edges.way
    and accepted.trial = edges.trial
