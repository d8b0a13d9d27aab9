-- How many values are not numbers, in the text columns that a condition compares with numbers.
-- in: source, columns    out: n1, n2, .. (one per column)    grain: one row
select
    {% for column in columns %}
    cast(coalesce(sum(
        case
            when {{ adapter.quote(column) }} is null then 0
            when {{ privacy_sql.is_number(adapter.quote(column)) }} then 0
            else 1
        end
    ), 0) as bigint) as n{{ loop.index }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ source }}
