-- The boxes of the whole partition, numbered.
-- in: pieces [relations (c, box)], numbers (box, g)    out: c, g    grain: combination
with together as (
    {% for piece in pieces %}
    select
        c,
        box
    from {{ piece }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
)
select distinct
    together.c,
    numbers.g
from together
inner join {{ numbers }} as numbers
    on together.box = numbers.box
