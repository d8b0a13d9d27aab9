-- Values missing from the hierarchy.
-- in: levels (code, n_rows, l1..lH)    out: n_values, n_rows    grain: one row
select
    cast(count(*) as bigint) as n_values,
    cast(coalesce(sum(n_rows), 0) as bigint) as n_rows
from {{ levels }}
where
    code <> 0
    and (
        {% for level in range(1, height + 1) %}
        l{{ level }} is null
        {% if not loop.last %}
        or
        {% endif %}
        {% endfor %}
    )
