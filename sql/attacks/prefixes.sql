-- A number for every combination of the first one, two, ... columns, so that columns can be matched one by one.
-- in: relation (key, columns)    out: key, columns, p1..pn    grain: as relation
select
    {{ key }},
    {% for column in columns %}
    {{ column }},
    {% endfor %}
    {% for column in columns %}
    cast(
        dense_rank() over (
            order by {{ privacy_sql.columns(columns[: loop.index]) }}
        ) as bigint
    ) as p{{ loop.index }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ relation }}
