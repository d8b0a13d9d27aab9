-- A candidate as seen by somebody who knows fewer of its keys.
-- in: candidate (k1.., columns, n_rows), keys [(alias, new alias)]    out: the new aliases, columns, n_rows
-- grain: as candidate
select
    {% for alias, renamed in keys %}
    {{ alias }} as {{ renamed }},
    {% endfor %}
    {% for column in columns %}
    {{ column }},
    {% endfor %}
    n_rows
from {{ candidate }}
