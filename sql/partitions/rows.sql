-- The source rows with the number of the box each is published in.
-- in: coded (q1.., r_q1.., others), combinations (c, q1..), final (c, g)    out: g, q1.., r_q1.., others    grain: row
select
    final.g,
    {% for column in columns %}
    coded.{{ column }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ coded }} as coded
inner join {{ combinations }} as combinations
    on
    {% for column in quasi %}
    coded.{{ column }} = combinations.{{ column }}
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
inner join {{ final }} as final
    on combinations.c = final.c
