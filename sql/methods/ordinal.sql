-- The values of a column in the order of their labels, from the coarsest level down, so that similar values are neighbours.
-- in: levels (code, l0..lH), height    out: code, place    grain: value
select
    code,
    cast(
        row_number() over (
            order by
                {% for level in range(1, height) %}
                case when l{{ height - loop.index }} is null then 0 else 1 end,
                l{{ height - loop.index }},
                {% endfor %}
                code
        ) as bigint
    ) as place
from {{ levels }}
