-- The published rows of a bucketization: who is in which group, and the group's sensitive values in an order that depends
-- on a secret key. Equal values are interchangeable, so each occurrence is shuffled separately.
-- in: rows (g, q1.., r_q1.., s, others), shown as in generalise, secret (key); apart: without the sensitive values
-- out: group_id, the shown columns    grain: row
with people as (
    select
        rows.g,
        {% for name, alias, level, levels in shown %}
        {% if alias != "s" %}
        {% if level is none %}
        rows.{{ alias }}
        {%- elif level == 0 %}
        rows.r_{{ alias }}
        {%- else %}
        l_{{ alias }}.l{{ level }}
        {%- endif %} as o{{ loop.index }},
        {% endif %}
        {% endfor %}
        1 as one
    from {{ rows }} as rows
    {% for name, alias, level, levels in shown %}
    {% if level %}
    inner join {{ levels }} as l_{{ alias }}
        on rows.{{ alias }} = l_{{ alias }}.code
    {% endif %}
    {% endfor %}
),
placed as (
    select
        g,
        {% for name, alias, level, levels in shown %}
        {% if alias != "s" %}
        o{{ loop.index }},
        {% endif %}
        {% endfor %}
        row_number() over (
            partition by g
            order by
                {% for name, alias, level, levels in shown %}
                {% if alias != "s" %}
                o{{ loop.index }},
                {% endif %}
                {% endfor %}
                one
        ) as place,
        dense_rank() over (order by g) as group_id
    from people
)
{% if not apart %},
occurrences as (
    select
        g,
        s,
        row_number() over (partition by g, s order by s) as occurrence
    from {{ rows }}
),
shuffled as (
    select
        o.g,
        o.s,
        row_number() over (
            partition by o.g
            order by
                md5(concat(
                    k.key,
                    ':', cast(o.g as varchar),
                    ':', coalesce(cast(o.s as varchar), ''),
                    ':', case when o.s is null then '0' else '1' end,
                    ':', cast(o.occurrence as varchar)
                )),
                o.s,
                o.occurrence
        ) as place
    from occurrences as o
    cross join {{ secret }} as k
)
{% endif %}
select
    cast(placed.group_id as bigint) as {{ adapter.quote(group_id) }}
    {% for name, alias, level, levels in shown %}
    {% if alias != "s" %},
    placed.o{{ loop.index }} as {{ adapter.quote(name) }}
    {% elif not apart %},
    shuffled.s as {{ adapter.quote(name) }}
    {% endif %}
    {% endfor %}

from placed
{% if not apart %}
inner join shuffled
    on placed.g = shuffled.g
    and placed.place = shuffled.place
{% endif %}
order by
    {{ adapter.quote(group_id) }}
    {% for name, alias, level, levels in shown %}
    {% if alias != "s" or not apart %},
    {{ adapter.quote(name) }}
    {% endif %}
    {% endfor %}
