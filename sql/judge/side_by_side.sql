-- The evidence about several choices, one below the other.
-- in: parts [a statement with the columns], columns    out: choice (its place), columns    grain: as the statements
{% for part in parts %}
select
    cast({{ loop.index0 }} as bigint) as choice
    {% for column in columns %},
    found.{{ column }}
    {% endfor %}

from (
    {{ part }}
) as found
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
