-- The values missing from hierarchies, for a private file of the person who runs the project.
-- in: columns [(name, levels (code, n_rows, l0..lH), height)]    out: column_name, value, n_rows    grain: value
with found as (
    {% for name, levels, height in columns %}
    select
        {{ privacy_sql.literal(name) }} as column_name,
        cast(l0 as varchar) as value,
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
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
)
select
    column_name,
    value,
    n_rows
from found
order by column_name, n_rows desc, value
