-- The part that each combination would be in.
-- in: boxes, asked (box, way, ordered, lowest), cuts, ways [(number, place)], relaxed    out: c, g    grain: combination
with along as (
    select distinct
        boxes.c,
        boxes.box,
        asked.way,
        asked.ordered,
        asked.lowest,
        case asked.way
            {% for number, place in ways %}
            when {{ number }} then boxes.{{ place }}
            {% endfor %}
        end as place
    from {{ boxes }} as boxes
    inner join {{ asked }} as asked
        on boxes.box = asked.box
),
cut as (
    select
        along.c,
        along.ordered,
        along.lowest,
        along.place,
        {% if relaxed %}
        cuts.edge_c,
        {% endif %}
        cuts.edge
    from along
    left join {{ cuts }} as cuts
        on along.box = cuts.box
        and along.way = cuts.way
)
select
    c,
    lowest + {{ privacy_sql.part_of(relaxed) }} as g
from cut
