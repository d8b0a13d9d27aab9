-- Size, rows, NULLs and highest code of each dictionary of the counted source, and the code of a value that is one star.
-- in: dictionaries (part, code, n_rows, texts), texts (columns of values), star
-- out: part, n_values, n_rows, n_nulls, top, star (-1: no such value)    grain: part
select
    part,
    cast(count(*) as bigint) as n_values,
    cast(sum(n_rows) as bigint) as n_rows,
    cast(sum(case when code = 0 then n_rows else 0 end) as bigint) as n_nulls,
    max(code) as top,
    {% if texts %}
    coalesce(
        max(
            case
                {% for column in texts %}
                when {{ column }} = {{ privacy_sql.literal(star) }} then code
                {% endfor %}
            end
        ),
        cast(-1 as bigint)
    ) as star
    {% else %}
    cast(-1 as bigint) as star
    {% endif %}

from {{ dictionaries }}
group by part
