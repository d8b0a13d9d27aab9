-- Cells that a spreadsheet takes for formulas: text that begins with = + - @, a tab or a carriage return, and is no number.
-- in: relation, columns, formula    out: n1.. in the order of the columns    grain: one row
select
    {% for column in columns %}
    cast(
        count(
            case
                when {{ privacy_sql.is_formula(adapter.quote(column), formula) }} then 1
            end
        ) as bigint
    ) as n{{ loop.index }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ relation }}
