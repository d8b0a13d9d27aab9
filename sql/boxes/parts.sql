-- The parts of every box that might be cut: two of an ordered axis, one for each node of a hierarchy.
-- in: cells, asked (box, way, ordered, lowest), cuts (box, way, edge, [edge_c]), relaxed, told, measures
-- out: g, told, measures    grain: part and what is told
with along as (
    select
        asked.ordered,
        asked.lowest,
        cuts.edge,
        {% if relaxed %}
        cuts.edge_c,
        cells.c,
        {% endif %}
        {% for name in told %}
        cells.{{ name }},
        {% endfor %}
        {% for measure in measures %}
        cells.{{ measure }},
        {% endfor %}
        cells.place
    from {{ cells }} as cells
    inner join {{ asked }} as asked
        on cells.box = asked.box
        and cells.way = asked.way
    left join {{ cuts }} as cuts
        on cells.box = cuts.box
        and cells.way = cuts.way
),
placed as (
    select
        lowest + {{ privacy_sql.part_of(relaxed) }} as g,
        {% for name in told %}
        {{ name }},
        {% endfor %}
        {% for measure in measures %}
        {{ measure }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from along
)
select
    g,
    {% for name in told %}
    {{ name }},
    {% endfor %}
    {% for measure in measures %}
    cast(sum({{ measure }}) as bigint) as {{ measure }}{% if not loop.last %},{% endif %}

    {% endfor %}
from placed
group by
    {% for name in told %}
    {{ name }},
    {% endfor %}
    g
