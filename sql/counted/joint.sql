-- The source with several sensitive columns read as one: equal exactly when all of them are.
-- in: source, columns, parts, name    out: the columns, name    grain: row
select
    {% for column in columns %}
    {{ adapter.quote(column) }},
    {% endfor %}
    concat(
        {% for part in parts %}
        case
            when {{ adapter.quote(part) }} is null then '-'
            else concat(
                cast(length(cast({{ adapter.quote(part) }} as varchar)) as varchar),
                ':',
                cast({{ adapter.quote(part) }} as varchar)
            )
        end{% if not loop.last %},
        ' & ',{% endif %}

        {% endfor %}
    ) as {{ adapter.quote(name) }}
from {{ source }}
