-- Combinations counted at finer levels, counted again at coarser ones.
-- in: counted (the finer columns, s, n_rows), keys [(alias, column, level, codes)] codes none where the level stays,
--     sizes [(alias, size)], packed, sensitive    out: g, k1.., s, n_rows    grain: combination
with keyed as (
    select
        {% for alias, column, level, codes in keys %}
        {% if codes is none %}
        counted.{{ column }} as {{ alias }},
        {% else %}
        c_{{ alias }}.c{{ level }} as {{ alias }},
        {% endif %}
        {% endfor %}
        {% if sensitive %}
        counted.s,
        {% endif %}
        cast(sum(counted.n_rows) as bigint) as n_rows
    from {{ counted }} as counted
    {% for alias, column, level, codes in keys %}
    {% if codes is not none %}
    inner join {{ codes }} as c_{{ alias }}
        on counted.{{ column }} = c_{{ alias }}.code
    {% endif %}
    {% endfor %}
    group by
        {% for alias, column, level, codes in keys %}
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
)
select
    {% if packed %}
    {{ privacy_sql.pack(sizes) }} as g,
    {% else %}
    cast(
        dense_rank() over (
            order by
                {% for alias, size in sizes %}
                {{ alias }}{% if not loop.last %},{% endif %}

                {% endfor %}
        ) as bigint
    ) as g,
    {% endif %}
    {% for alias, size in sizes %}
    {{ alias }},
    {% endfor %}
    {% if sensitive %}
    s,
    {% endif %}
    n_rows
from keyed
