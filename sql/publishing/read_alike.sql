-- Columns that have both missing values and empty texts, which a CSV file writes the same way.
-- in: relation, columns    out: n1.. in the order of the columns, 1 or 0    grain: one row
select
    {% for column in columns %}
    case
        when
            count({{ adapter.quote(column) }}) < count(*)
            and count(case when {{ adapter.quote(column) }} = '' then 1 end) > 0
            then 1
        else 0
    end as n{{ loop.index }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ relation }}
