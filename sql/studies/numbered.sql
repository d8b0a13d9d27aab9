-- Counted people, each distinct combination with a number.
-- in: counted (the columns as codes, n_rows), columns    out: id, the columns, n_rows    grain: combination
select
    row_number() over (
        order by {% for column in columns %}{{ column }}{% if not loop.last %}, {% endif %}{% endfor %}

    ) as id,
    {% for column in columns %}
    {{ column }},
    {% endfor %}
    n_rows
from {{ counted }}
