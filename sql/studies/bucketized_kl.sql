-- How far permuting the sensitive values within each group changes their distribution, in nats.
-- in: candidate (g, q1.., s, n_rows), histogram (g, s, n_rows), groups (g, n_people), columns    out: kl    grain: one row
with alike as (
    select
        g,
        {% for column in columns %}
        {{ column }},
        {% endfor %}
        cast(sum(n_rows) as double) as n_rows
    from {{ candidate }}
    group by
        {% for column in columns %}
        {{ column }},
        {% endfor %}
        g
),
known as (
    select
        {% for column in columns %}
        {{ column }},
        {% endfor %}
        s,
        cast(sum(n_rows) as double) as n_rows
    from {{ candidate }}
    group by
        {% for column in columns %}
        {{ column }},
        {% endfor %}
        s
),
compared as (
    select
        known.n_rows,
        cast(
            sum(alike.n_rows * cast(histogram.n_rows as double) / cast(groups.n_people as double)) as double
        ) as expected
    from known
    inner join alike
        on {% for column in columns %}known.{{ column }} = alike.{{ column }}{% if not loop.last %} and {% endif %}{% endfor %}

    inner join {{ histogram }} as histogram
        on alike.g = histogram.g
        and known.s = histogram.s
    inner join {{ groups }} as groups
        on alike.g = groups.g
    group by
        {% for column in columns %}
        known.{{ column }},
        {% endfor %}
        known.s,
        known.n_rows
)
select cast(sum(n_rows * (ln(n_rows) - ln(expected))) as double) / cast(sum(n_rows) as double) as kl
from compared
