-- The rows as written, equal ones counted together: the only statement of an audit that reads every row.
-- in: written, columns, counted (a name that no column has)    out: the columns, counted    grain: distinct row
select
    {% for name in columns %}
    {{ adapter.quote(name) }},
    {% endfor %}
    cast(count(*) as bigint) as {{ counted }}
from {{ written }}
group by
    {% for name in columns %}
    {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endfor %}
