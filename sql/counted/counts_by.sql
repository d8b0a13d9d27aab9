-- How many people there are for each combination of some columns of the base, in codes.
-- in: base, columns    out: the columns, n_rows    grain: combination of the columns
select
    {% for column in columns %}
    {{ column }},
    {% endfor %}
    cast(sum(n_rows) as bigint) as n_rows
from {{ base }}
group by
    {% for column in columns %}
    {{ column }}{% if not loop.last %},{% endif %}

    {% endfor %}
