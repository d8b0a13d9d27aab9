-- Cells that a spreadsheet takes for formulas: text that begins with = + - @ or a tab, and is no number.
-- in: relation, columns, pattern    out: n1.. in the order of the columns    grain: one row
select
    {% for column in columns %}
    cast(
        count(
            case
                when
                    {{ privacy_sql.matches(adapter.quote(column), privacy_sql.literal(pattern)) }}
                    and not {{ privacy_sql.is_number(adapter.quote(column)) }} then 1
            end
        ) as bigint
    ) as n{{ loop.index }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ relation }}
