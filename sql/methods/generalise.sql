-- The published rows: every quasi-identifier at its level, the other columns unchanged.
-- The order is that of the published values, so it says nothing about the order of the source. Groups are put in order
-- before their rows, which are then compared by one number.
-- in: rows (g, q1.., r_q1.., others), places (g, place), shown [(name, alias, level, levels)]
-- out: the shown columns    grain: row
select
    {% for name, alias, level, levels in shown %}
    {% if level is none %}
    rows.{{ alias }}
    {%- elif level == 0 %}
    rows.r_{{ alias }}
    {%- else %}
    l_{{ alias }}.l{{ level }}
    {%- endif %} as {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ rows }} as rows
{% for name, alias, level, levels in shown %}
{% if level %}
inner join {{ levels }} as l_{{ alias }}
    on rows.{{ alias }} = l_{{ alias }}.code
{% endif %}
{% endfor %}
inner join {{ places }} as places
    on rows.g = places.g
order by
    places.place{% for name, alias, level, levels in shown if level is none %},
    {{ adapter.quote(name) }}{% endfor %}

