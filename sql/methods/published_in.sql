-- The combinations a round of a recoding publishes.
-- in: candidate (columns), columns, round, before (columns, round) or none    out: columns, round    grain: combination
{% if before is not none %}
select
    {% for column in columns %}
    {{ column }},
    {% endfor %}
    round
from {{ before }}
union all
{% endif %}
select
    {% for column in columns %}
    {{ column }},
    {% endfor %}
    cast({{ round }} as bigint) as round
from {{ candidate }}
group by
    {% for column in columns %}
    {{ column }}{% if not loop.last %},{% endif %}

    {% endfor %}
