-- The source rows with the number of the box each is published in.
-- in: rows (g as combination, columns), final (c, g)    out: g, columns    grain: row
select
    final.g,
    {% for column in columns %}
    rows.{{ column }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ rows }} as rows
inner join {{ final }} as final
    on rows.g = final.c
