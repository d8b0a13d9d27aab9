-- How many cells of a separator two marginals count differently; none if both come from one table.
-- in: left, right (columns, n_rows), columns    out: n_cells    grain: one row
with stacked as (
    select
        {% for column in columns %}
        {{ column }},
        {% endfor %}
        n_rows,
        cast(0 as bigint) as other_rows
    from {{ left }}
    union all
    select
        {% for column in columns %}
        {{ column }},
        {% endfor %}
        cast(0 as bigint) as n_rows,
        n_rows as other_rows
    from {{ right }}
),
compared as (
    select
        cast(sum(n_rows) as bigint) as n_rows,
        cast(sum(other_rows) as bigint) as other_rows
    from stacked
    {% if columns %}
    group by {{ privacy_sql.columns(columns) }}
    {% endif %}
)
select cast(count(*) as bigint) as n_cells
from compared
where n_rows <> other_rows
