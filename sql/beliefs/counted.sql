-- The counts an adversary studies, in codes.
-- in: base, columns    out: the columns, n_rows    grain: the columns
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
