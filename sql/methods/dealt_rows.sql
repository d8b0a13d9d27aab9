-- The source rows with the number of the group that each is dealt to: the first rows of a line to its first group.
-- in: coded (q1.., r_q1.., s, others), columns (q1..), shares (q1.., s, k1, first_row, last_row), values of s, others
-- out: g, q1.., r_q1.., others    grain: row
with numbered as (
    select
        {% for column in columns %}
        c.{{ column }},
        c.r_{{ column }},
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
    a.k1 as g
    {% for column in columns %},
    n.{{ column }},
    n.r_{{ column }}
    {% endfor %}
    {% for other in others %},
    n.{{ other }}
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
