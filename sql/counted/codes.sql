-- The codes of some columns of a relation in the narrowest whole numbers that hold them, for arrays.
-- in: relation (columns, s, n_rows), columns [(column, its type)], sensitive: whether with the sensitive value
-- out: the columns, s, n_rows    grain: as relation
select
    {% for column, kind in columns %}
    cast({{ column }} as {{ kind }}) as {{ column }},
    {% endfor %}
    {% if sensitive %}
    s,
    {% endif %}
    n_rows
from {{ relation }}
