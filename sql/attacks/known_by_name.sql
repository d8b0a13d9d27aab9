-- The people with their identifier a second time, where a release shows it: who they are, and a value they are known by.
-- in: source, columns, identifier, person (a name that no column has)    out: the columns, person    grain: row
select
    {% for column in columns %}
    {{ adapter.quote(column) }},
    {% endfor %}
    {{ adapter.quote(identifier) }} as {{ person }}
from {{ source }}
