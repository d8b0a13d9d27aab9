-- Everybody with the box they are published in.
-- in: places (c, columns), final (c, g)    out: box, columns    grain: as places
select
    final.g as box,
    {% for column in columns %}
    places.{{ column }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ places }} as places
inner join {{ final }} as final
    on places.c = final.c
