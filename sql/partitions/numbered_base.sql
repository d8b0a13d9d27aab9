-- The counted base with the number of each row's combination.
-- in: base (q1.., others, n_rows), combinations (c, q1..), columns, others    out: c, q1.., others, n_rows    grain: as base
select
    combinations.c,
    {% for column in columns %}
    base.{{ column }},
    {% endfor %}
    {% for column in others %}
    base.{{ column }},
    {% endfor %}
    base.n_rows
from {{ base }} as base
inner join {{ combinations }} as combinations
    on
    {% for column in columns %}
    base.{{ column }} = combinations.{{ column }}
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
