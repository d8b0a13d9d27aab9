-- Every row's bucket: rows are dealt out value by value, like cards, so that no bucket gets a value twice unless the value
-- occurs more often than there are buckets. Within a value a secret key decides the order.
-- in: coded (q1.., r_q1.., s, others), codes [q1..], values (code, value), others, secret (key), buckets
-- out: g, value_code, codes, r_q1.., others    grain: row
with valued as (
    select
        {% for column in codes %}
        coded.{{ column }},
        coded.r_{{ column }},
        {% endfor %}
        {% for column in others %}
        coded.{{ column }},
        {% endfor %}
        coalesce(v.code, cast(0 as bigint)) as value_code
    from {{ coded }} as coded
    left join {{ values }} as v
        on coded.s = v.value
),
counted as (
    select
        {% for column in codes %}
        {{ column }},
        r_{{ column }},
        {% endfor %}
        {% for column in others %}
        {{ column }},
        {% endfor %}
        value_code,
        row_number() over (
            partition by
                {% for column in codes %}
                {{ column }},
                {% endfor %}
                value_code
            order by
                {% for column in others %}
                {{ column }}{% if not loop.last %},{% endif %}

                {% endfor %}
        ) as occurrence
    from valued
),
dealt as (
    select
        {% for column in codes %}
        counted.{{ column }},
        counted.r_{{ column }},
        {% endfor %}
        {% for column in others %}
        counted.{{ column }},
        {% endfor %}
        counted.value_code,
        row_number() over (
            order by
                counted.value_code,
                md5(concat(
                    k.key,
                    {% for column in codes %}
                    ':', cast(counted.{{ column }} as varchar),
                    {% endfor %}
                    ':', cast(counted.value_code as varchar),
                    ':', cast(counted.occurrence as varchar)
                )),
                {% for column in codes %}
                counted.{{ column }},
                {% endfor %}
                counted.occurrence
        ) - 1 as place
    from counted
    cross join {{ secret }} as k
)
select
    cast(
        place - {{ buckets }} * floor(cast(place as double) / cast({{ buckets }} as double)) as bigint
    ) + 1 as g,
    {% for column in codes %}
    {{ column }},
    r_{{ column }},
    {% endfor %}
    {% for column in others %}
    {{ column }},
    {% endfor %}
    value_code
from dealt
