-- The keyed base with the group number of each combination.
-- in: keyed (k1.., columns, n_rows), keys [(alias, size)], numbers (k1.., g) unless packed
-- out: g, k1.., columns, n_rows    grain: as keyed
select
    {% if numbers is none %}
    {{ privacy_sql.pack(keys) }} as g,
    {% else %}
    numbers.g,
    {% endif %}
    {% for alias, size in keys %}
    keyed.{{ alias }},
    {% endfor %}
    {% for column in columns %}
    keyed.{{ column }},
    {% endfor %}
    keyed.n_rows
from {{ keyed }} as keyed
{% if numbers is not none %}
inner join {{ numbers }} as numbers
    on
    {% for alias, size in keys %}
    keyed.{{ alias }} = numbers.{{ alias }}
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
{% endif %}
