-- The counted base with every column at every level beside it: what marginals are counted from during a search.
-- in: base (q1.., s, n_rows), columns [(alias, column, level, codes)], joined [(column, codes)], sensitive
-- out: aliases (q1_0, q1_1, ...), s, n_rows    grain: as base
select
    {% for alias, column, level, codes in columns %}
    {% if level == 0 %}
    base.{{ column }} as {{ alias }},
    {% else %}
    c_{{ column }}.c{{ level }} as {{ alias }},
    {% endif %}
    {% endfor %}
    {% if sensitive %}
    base.s,
    {% endif %}
    base.n_rows
from {{ base }} as base
{% for column, codes in joined %}
inner join {{ codes }} as c_{{ column }}
    on base.{{ column }} = c_{{ column }}.code
{% endfor %}
