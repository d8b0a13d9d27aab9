-- One of the choices that were counted together.
-- in: counted (choice, columns), columns, number    out: columns    grain: combination
select
    {% for column in columns %}
    {{ column }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ counted }}
where choice = {{ number }}
