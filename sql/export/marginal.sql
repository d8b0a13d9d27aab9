-- One published marginal: its columns at their levels, as text, and how many rows each cell holds.
-- in: source, shown [(name, column, level, recipe)], condition, count    out: names, count    grain: cell
with recoded as (
    select
        {% for name, column, level, recipe in shown %}
        {% if level %}
        {{ privacy_sql.recode(adapter.quote(column), recipe, level) }} as {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

        {% else %}
        cast({{ adapter.quote(column) }} as varchar) as {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

        {% endif %}
        {% endfor %}
    from {{ source }}
    {% if condition is not none %}
    where {{ condition }}
    {% endif %}
)
select
    {% for name, column, level, recipe in shown %}
    {{ adapter.quote(name) }},
    {% endfor %}
    cast(count(*) as bigint) as {{ adapter.quote(count) }}
from recoded
group by
    {{ privacy_sql.columns(shown | map(attribute=0) | list) }},
    {{ privacy_sql.apart(shown | map(attribute=0) | list) }}
order by {{ privacy_sql.apart(shown | map(attribute=0) | list) }}
