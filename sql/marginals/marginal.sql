-- One marginal of the counted base: its attributes at their levels, and at the coarser levels other marginals use.
-- in: base (q1.., s, n_rows), columns [(alias, column, level, codes)], own (aliases of its cells), sensitive
-- out: g (the nonsensitive cell), aliases, s, n_rows    grain: cell of the marginal
with counted as (
    {{ privacy_sql.at_levels(base, columns, joined, sensitive) }}
),
summed as (
    select
        {% for alias, column, level, codes in columns %}
        {{ alias }},
        {% endfor %}
        {% if sensitive %}
        s,
        {% endif %}
        cast(sum(n_rows) as bigint) as n_rows
    from counted
    {% if columns or sensitive %}
    group by
        {% for alias, column, level, codes in columns %}
        {{ alias }}{% if not loop.last or sensitive %},{% endif %}

        {% endfor %}
        {% if sensitive %}
        s
        {% endif %}
    {% endif %}
)
select
    {% if own %}
    cast(dense_rank() over (order by {{ privacy_sql.columns(own) }}) as bigint) as g,
    {% else %}
    cast(1 as bigint) as g,
    {% endif %}
    {% for alias, column, level, codes in columns %}
    {{ alias }},
    {% endfor %}
    {% if sensitive %}
    s,
    {% endif %}
    n_rows
from summed
