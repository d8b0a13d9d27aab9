-- The values a hierarchy does not know, for a private file of the person who runs the project.
-- in: levels (code, n_rows, l0..lH), name    out: the column, n_rows    grain: value
select
    l0 as {{ adapter.quote(name) }},
    n_rows
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
order by n_rows desc, l0
