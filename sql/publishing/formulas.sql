-- Cells that a spreadsheet takes for formulas: text that begins with = + - @, a tab or a carriage return, unless it is a number.
-- in: relation, columns, formula, counted (the column that says how many rows a row represents) or none
-- out: n1.. in the order of the columns    grain: one row
select
    {% for column in columns %}
    cast(
        {% if counted is not none %}coalesce(sum{% else %}count{% endif %}(
            case
                when {{ privacy_sql.is_formula(adapter.quote(column), formula) }} then {% if counted is not none %}{{ counted }}{% else %}1{% endif %}

            end
        ){% if counted is not none %}, 0){% endif %} as bigint
    ) as n{{ loop.index }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ relation }}
