{# The counted base with columns at levels beside it: [(alias, column, level, codes)], the codes joined once each. #}
{% macro at_levels(base, columns, joined, sensitive) %}
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
{% endmacro %}
