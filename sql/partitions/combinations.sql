-- The distinct combinations of quasi-identifiers, whatever their sensitive values.
-- in: base (q1.., n_rows), columns    out: q1.., n_rows    grain: combination of quasi-identifiers
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
