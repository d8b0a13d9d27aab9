-- The published rows of a microaggregation: every quasi-identifier is the centre of the row's group.
-- in: rows (g, q1.., others), columns (q1..), centres (k1, m_q1..),
--     shown [(name, internal name, dictionary of its centres or none)]    out: the shown columns    grain: row
select
    {% for name, alias, dictionary in shown %}
    {% if alias not in columns %}
    rows.{{ alias }}
    {%- elif dictionary is none %}
    m.m_{{ alias }}
    {%- else %}
    d_{{ alias }}.value
    {%- endif %} as {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ rows }} as rows
inner join {{ centres }} as m
    on rows.g = m.k1
{% for name, alias, dictionary in shown %}
{% if alias in columns and dictionary is not none %}
left join {{ dictionary }} as d_{{ alias }}
    on m.m_{{ alias }} = d_{{ alias }}.code
{% endif %}
{% endfor %}
order by
    {% for name, alias, dictionary in shown %}
    {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endfor %}
