-- Rows as they are written to CSV: an apostrophe before cells that a spreadsheet would take for formulas, and before
-- apostrophes in front of such a cell, so that every written cell means exactly one value.
-- in: relation, columns [(name, name as written, whether it may hold such cells)], formula, quoted
-- out: the same columns under their written names    grain: row
select
    {% for name, written, text in columns %}
    {% set cell %}cast({{ adapter.quote(name) }} as varchar){% endset %}
    {% if text %}
    case
        when {{ privacy_sql.needs_apostrophe(cell, formula, quoted) }}
            then concat({{ privacy_sql.literal("'") }}, {{ cell }})
        else {{ cell }}
    end
    {%- else %}
    {{ adapter.quote(name) }}
    {%- endif %} as {{ adapter.quote(written) }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ relation }}
