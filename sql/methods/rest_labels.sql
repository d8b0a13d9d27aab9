-- The labels of a column with the remaining rows of each raw value; values without rows stay.
-- in: levels (code, n_rows, labels), counted (column, n_rows), column, labels    out: code, n_rows, labels    grain: value
with left_over as (
    select
        {{ column }} as code,
        cast(sum(n_rows) as bigint) as n_rows
    from {{ counted }}
    group by {{ column }}
)
select
    levels.code,
    coalesce(left_over.n_rows, cast(0 as bigint)) as n_rows
    {% for label in labels %},
    levels.{{ label }}
    {% endfor %}

from {{ levels }} as levels
left join left_over
    on levels.code = left_over.code
