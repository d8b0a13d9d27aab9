-- The base with the published labels of each combination as key columns; combinations that no round publishes are left out.
-- in: base (columns, n_rows), plan (round), places [(column, column of the plan)], labels [(alias, column, relation)],
--     columns
-- out: k1.., columns, n_rows    grain: as base
select
    {% for alias, column, relation in labels %}
    t_{{ alias }}.id as {{ alias }},
    {% endfor %}
    {% for column in columns %}
    base.{{ column }},
    {% endfor %}
    base.n_rows
from {{ base }} as base
inner join {{ plan }} as plan
    on
    {% for column, place in places %}
    base.{{ column }} = plan.{{ place }}
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
{% for alias, column, relation in labels %}
inner join {{ relation }} as t_{{ alias }}
    on base.{{ column }} = t_{{ alias }}.code
    and plan.round = t_{{ alias }}.round
{% endfor %}
