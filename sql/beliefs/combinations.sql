-- The combinations of quasi-identifiers that occur, numbered from 0: the kinds of people that the adversary distinguishes.
-- in: base (q1.., n_rows), columns    out: c, q1.., n_rows    grain: combination
with found as (
    select
        {% for column in columns %}
        {{ column }},
        {% endfor %}
        cast(sum(n_rows) as bigint) as n_rows
    from {{ base }}
    {% if columns %}
    group by
        {% for column in columns %}
        {{ column }}{% if not loop.last %},{% endif %}

        {% endfor %}
    {% endif %}
)
select
    cast(
        row_number() over (
            order by
                {% for column in columns %}
                {{ column }},
                {% endfor %}
                n_rows
        ) - 1 as bigint
    ) as c,
    {% for column in columns %}
    {{ column }},
    {% endfor %}
    n_rows
from found
