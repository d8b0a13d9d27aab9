-- The source rows with the number of the group in which each is published, without suppressed groups.
-- in: coded (q1.., r_q1.., others), keys [(alias, size, column, level, codes)], numbers, gone
-- out: g, q1.., r_q1.., others    grain: row
with keyed as (
    select
        {% for alias, size, column, level, codes in keys %}
        {% if level == 0 %}
        coded.{{ column }} as {{ alias }},
        {% else %}
        c_{{ column }}.c{{ level }} as {{ alias }},
        {% endif %}
        {% endfor %}
        {% for column in columns %}
        coded.{{ column }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from {{ coded }} as coded
    {% for alias, size, column, level, codes in keys %}
    {% if level > 0 %}
    inner join {{ codes }} as c_{{ column }}
        on coded.{{ column }} = c_{{ column }}.code
    {% endif %}
    {% endfor %}
),
numbered as (
    select
        {% if numbers is none %}
        {{ privacy_sql.pack(pairs) }} as g,
        {% else %}
        numbers.g,
        {% endif %}
        {% for column in columns %}
        keyed.{{ column }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from keyed
    {% if numbers is not none %}
    inner join {{ numbers }} as numbers
        on
        {% for alias, size in pairs %}
        keyed.{{ alias }} = numbers.{{ alias }}
        {% if not loop.last %}
        and
        {% endif %}
        {% endfor %}
    {% endif %}
)
select
    numbered.g,
    {% for column in columns %}
    numbered.{{ column }}{% if not loop.last %},{% endif %}

    {% endfor %}
from numbered
{% if gone is not none %}
left join {{ gone }} as gone
    on numbered.g = gone.g
where gone.g is null
{% endif %}
