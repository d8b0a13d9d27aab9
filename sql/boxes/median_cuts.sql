-- The edge of a cut at the place of the person in the middle, on the side that makes the halves more equal, the lower side
-- if both do. If banded, the band of places with that person, where it has to be refined.
-- in: cells (box, way, place, [c], n_people), asked (box, way, ordered, n_people, band), banded, relaxed
-- out: box, way, edge, [edge_c], or box, way, place, stop    grain: box, way
with along as (
    select
        cells.box,
        cells.way,
        cells.place,
        {% if relaxed %}
        cells.c,
        {% endif %}
        {% if banded %}
        max(asked.band) as band,
        {% endif %}
        max(asked.n_people) as n_all,
        cast(sum(cells.n_people) as bigint) as n_people
    from {{ cells }} as cells
    inner join {{ asked }} as asked
        on cells.box = asked.box
        and cells.way = asked.way
    where asked.ordered = 1
    group by
        cells.box,
        cells.way,
        {% if relaxed %}
        cells.c,
        {% endif %}
        cells.place
),
running as (
    select
        box,
        way,
        place,
        {% if relaxed %}
        c,
        {% endif %}
        {% if banded %}
        band,
        {% endif %}
        n_all,
        n_people,
        cast(
            sum(n_people) over (
                partition by
                    box,
                    way
                order by
                    place{% if relaxed %},
                    c{% endif %}

                rows between unbounded preceding and current row
            ) as bigint
        ) as n_so_far
    from along
),
middle as (
    select
        box,
        way,
        place,
        {% if relaxed %}
        c,
        {% endif %}
        {% if banded %}
        band,
        {% endif %}
        case
            when n_so_far = n_people then 1
            when n_so_far < n_all and 2 * n_so_far - n_all < n_all - 2 * (n_so_far - n_people) then 1
            else 0
        end as below
    from running
    where
        2 * (n_so_far - n_people) < n_all
        and n_all <= 2 * n_so_far
)
select
    box,
    way,
    {% if banded %}
    place,
    place + band as stop
    {% elif relaxed %}
    place as edge,
    c + below as edge_c
    {% else %}
    place + below as edge
    {% endif %}

from middle
{% if banded and not relaxed %}
where band > 1
{% endif %}
