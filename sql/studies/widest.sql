-- How many groups there are with each further column, beside the columns already chosen.
-- in: groups (g, the columns as codes, n_rows), columns [(column, how many codes it has)]    grain: one row
-- out: one count per column, under its name
select
    {% for column, size in columns %}
    cast(count(distinct cast(g as bigint) * {{ size }} + {{ column }}) as bigint) as {{ column }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ groups }}
