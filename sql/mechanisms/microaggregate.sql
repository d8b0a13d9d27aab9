-- The published rows of a microaggregation: every quasi-identifier is the centre of the row's group.
-- in: coded (q1.., r_q1.., s, others), columns (q1..), shares (q1.., s, k1, first_row, last_row), centres (k1, m_q1..),
--     values of s, others, shown [(name, internal name, dictionary of its centres or none)]
-- out: the shown columns    grain: row
with numbered as (
    select
        {% for column in columns %}
        c.{{ column }},
        {% endfor %}
        {% for other in others %}
        c.{{ other }},
        {% endfor %}
        {% if values is not none %}
        coalesce(v.code, cast(0 as bigint)) as s_code,
        {% endif %}
        cast(
            row_number() over (
                partition by
                    {{ privacy_sql.columns(columns) }}
                    {% if values is not none %},
                    c.s
                    {% endif %}

                order by
                    {% for other in others %}
                    c.{{ other }},
                    {% endfor %}
                    c.{{ columns[0] }}
            ) as bigint
        ) as place
    from {{ coded }} as c
    {% if values is not none %}
    left join {{ values }} as v
        on c.s = v.value
    {% endif %}
)
select
    {% for name, alias, dictionary in shown %}
    {% if alias not in columns %}
    n.{{ alias }}
    {%- elif dictionary is none %}
    m.m_{{ alias }}
    {%- else %}
    d_{{ alias }}.value
    {%- endif %} as {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endfor %}
from numbered as n
inner join {{ shares }} as a
    on
    {% for column in columns %}
    n.{{ column }} = a.{{ column }}
    and
    {% endfor %}
    {% if values is not none %}
    n.s_code = a.s
    and
    {% endif %}
    n.place >= a.first_row
    and n.place <= a.last_row
inner join {{ centres }} as m
    on a.k1 = m.k1
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
