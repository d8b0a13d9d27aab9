-- The sensitive values that published marginals leave possible for each combination of people: those with a count in the
-- person's cell of every marginal that shows values. Where none shows any, everybody may have every value.
-- in: everybody (g, q1.., columns), parts [(marginal (columns, s), columns)], values (s) of the whole table, codes (q1..)
-- out: g, q1.., s, n_rows (1)    grain: combination of people, value
select
    e.g,
    {% for code in codes %}
    e.{{ code }},
    {% endfor %}
    {% if parts %}
    m1.s,
    {% else %}
    v.s,
    {% endif %}
    cast(1 as bigint) as n_rows
from {{ everybody }} as e
{% for marginal, columns in parts %}
{% set number = loop.index %}
inner join {{ marginal }} as m{{ number }}
    on
    {% for column in columns %}
    e.{{ column }} = m{{ number }}.{{ column }}
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
    {% if not loop.first %}
    {% if columns %}
    and
    {% endif %}
    m1.s = m{{ number }}.s
    {% elif not columns %}
    1 = 1
    {% endif %}
{% endfor %}
{% if not parts %}
cross join {{ values }} as v
{% endif %}
