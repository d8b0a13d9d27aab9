-- A small table of ours under the names in which it is stored.
-- in: relation, columns [(internal name, name)]    out: the names    grain: as relation
select
    {% for inside, name in columns %}
    {{ inside }} as {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ relation }}
