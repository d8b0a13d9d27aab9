-- The codes of one nonsensitive cell of a marginal.
-- in: marginal (g, columns), columns, cell    out: columns    grain: one row
select
    {% for column in columns %}
    min({{ column }}) as {{ column }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ marginal }}
where g = {{ cell }}
