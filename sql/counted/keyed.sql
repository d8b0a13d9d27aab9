-- The base with the key columns of a choice of levels beside it.
-- in: base (q1.., s, n_rows), keys [(alias, column, level, codes)]    out: k1.., q1.., s, n_rows    grain: as base
select
    {% for alias, column, level, codes in keys %}
    {% if level == 0 %}
    base.{{ column }} as {{ alias }},
    {% else %}
    c_{{ column }}.c{{ level }} as {{ alias }},
    {% endif %}
    {% endfor %}
    {% for column in columns %}
    base.{{ column }},
    {% endfor %}
    base.n_rows
from {{ base }} as base
{% for alias, column, level, codes in keys %}
{% if level > 0 %}
inner join {{ codes }} as c_{{ column }}
    on base.{{ column }} = c_{{ column }}.code
{% endif %}
{% endfor %}
