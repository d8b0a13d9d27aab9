-- The original values of rows that were written with an apostrophe before cells that a spreadsheet would run.
-- in: relation, columns [(name, name that was meant)], formula, quoted
-- out: the same columns under the names that were meant    grain: row
select
    {% for name, meant in columns %}
    {% set cell %}substr({{ adapter.quote(name) }}, 2){% endset %}
    case
        when
            substr({{ adapter.quote(name) }}, 1, 1) = {{ privacy_sql.literal("'") }}
            and {{ privacy_sql.needs_apostrophe(cell, formula, quoted) }}
            then {{ cell }}
        else {{ adapter.quote(name) }}
    end as {{ adapter.quote(meant) }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ relation }}
