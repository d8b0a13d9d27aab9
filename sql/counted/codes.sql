-- The codes of some columns of a relation in the narrowest whole numbers that hold them, for arrays.
-- in: relation (columns, s, n_rows), columns [(column, the largest code)], sensitive: whether with the sensitive value
-- out: the columns, s, n_rows    grain: as relation
select
    {% for column, top in columns %}
    {% if top < 32768 %}
    cast({{ column }} as smallint) as {{ column }},
    {% elif top < 2147483648 %}
    cast({{ column }} as integer) as {{ column }},
    {% else %}
    {{ column }},
    {% endif %}
    {% endfor %}
    {% if sensitive %}
    s,
    {% endif %}
    n_rows
from {{ relation }}
