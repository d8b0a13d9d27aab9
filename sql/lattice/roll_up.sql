-- Counts at finer levels summed up to coarser ones: several choices in one statement.
-- in: choices [(counted (the finer columns, s, n_rows), steps [(alias, column, level, codes, only)] codes none where
--     the level stays, only the code of a level with one label, grouped (the other steps), sizes [(alias, size)],
--     packed)], sensitive
-- out: choice (its place), g, k1.., s, n_rows (and n_people, not sensitive)    grain: choice, combination
with
{% for each in choices %}
keyed_{{ loop.index0 }} as (
    select
        {% for alias, column, level, codes, only in each.steps %}
        {% if only is not none %}
        cast({{ only }} as bigint) as {{ alias }},
        {% elif codes is none %}
        counted.{{ column }} as {{ alias }},
        {% else %}
        c_{{ alias }}.c{{ level }} as {{ alias }},
        {% endif %}
        {% endfor %}
        {% if sensitive %}
        counted.s,
        {% endif %}
        cast(sum(counted.n_rows) as bigint) as n_rows
    from {{ each.counted }} as counted
    {% for alias, column, level, codes, only in each.grouped %}
    {% if codes is not none %}
    inner join {{ codes }} as c_{{ alias }}
        on counted.{{ column }} = c_{{ alias }}.code
    {% endif %}
    {% endfor %}
    {% if each.grouped or sensitive %}
    group by
        {% for alias, column, level, codes, only in each.grouped %}
        {% if codes is none %}
        counted.{{ column }}
        {% else %}
        c_{{ alias }}.c{{ level }}
        {% endif %}
        {% if sensitive or not loop.last %},{% endif %}

        {% endfor %}
        {% if sensitive %}
        counted.s
        {% endif %}
    {% else %}
    having count(*) > 0
    {% endif %}
){% if not loop.last %},{% endif %}

{% endfor %}
{% for each in choices %}
select
    cast({{ loop.index0 }} as bigint) as choice,
    {% if each.packed %}
    {{ privacy_sql.pack(each.sizes) }} as g,
    {% else %}
    cast(
        dense_rank() over (
            order by
                {% for alias, size in each.sizes %}
                {{ alias }}{% if not loop.last %},{% endif %}

                {% endfor %}
        ) as bigint
    ) as g,
    {% endif %}
    {% for alias, size in each.sizes %}
    {{ alias }},
    {% endfor %}
    {% if sensitive %}
    s,
    {% else %}
    n_rows as n_people,
    {% endif %}
    n_rows
from keyed_{{ loop.index0 }} as keyed
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
