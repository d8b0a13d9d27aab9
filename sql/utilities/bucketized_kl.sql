-- What permuting the sensitive values inside each group does to their distribution, in nats.
-- in: candidate (g, q1.., s, n_rows), histogram (g, s, n_rows), groups (g, n_people), columns    out: kl    grain: one row
with known as (
    select
        candidate.g,
        candidate.s,
        candidate.n_rows,
        cast(sum(candidate.n_rows) over (
            partition by
                {% for column in columns %}
                candidate.{{ column }}{% if not loop.last %},{% endif %}

                {% endfor %}
        ) as bigint) as n_alike
    from {{ candidate }} as candidate
),
compared as (
    select
        known.n_rows,
        ln(cast(known.n_rows as double)) + ln(cast(groups.n_people as double))
        - ln(cast(known.n_alike as double)) - ln(cast(histogram.n_rows as double)) as surprise
    from known
    inner join {{ histogram }} as histogram
        on known.g = histogram.g
        and known.s = histogram.s
    inner join {{ groups }} as groups
        on known.g = groups.g
)
select cast(sum(cast(n_rows as double) * surprise) as double) / cast(sum(n_rows) as double) as kl
from compared
