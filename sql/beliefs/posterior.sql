-- The belief about each kind of person in each group after the release, estimated for all groups at once.
-- Li et al. 2009, eq. (5): one sweep is Ω, many are Sinkhorn. Only values that the group publishes have rows.
-- in: swept (what earlier sweeps gave, as out), or people (g, c, n_people), histogram (g, s, n_rows) and prior (c, s, p)
--     sweeps
-- out: g, c, n_people, s, n_rows, p, omega, sinkhorn    grain: group, combination, sensitive value
with swept_0 as (
    {% if swept %}
    select
        g,
        c,
        n_people,
        s,
        n_rows,
        p,
        omega,
        sinkhorn
    from {{ swept }}
    {% else %}
    select
        people.g,
        people.c,
        people.n_people,
        histogram.s,
        histogram.n_rows,
        prior.p,
        prior.p as omega,
        prior.p as sinkhorn
    from {{ people }} as people
    inner join {{ histogram }} as histogram
        on people.g = histogram.g
    inner join {{ prior }} as prior
        on people.c = prior.c
        and histogram.s = prior.s
    where prior.p > 0
    {% endif %}
)
{% for sweep in range(1, sweeps + 1) %},
shared_{{ sweep }} as (
    select
        g,
        c,
        n_people,
        s,
        n_rows,
        p,
        omega,
        sinkhorn * n_rows / cast(sum(sinkhorn * n_people) over (partition by g, s) as double) as sinkhorn
    from swept_{{ sweep - 1 }}
),
swept_{{ sweep }} as (
    select
        g,
        c,
        n_people,
        s,
        n_rows,
        p,
        {% if loop.first and not swept %}
        sinkhorn / cast(sum(sinkhorn) over (partition by g, c) as double) as omega,
        {% else %}
        omega,
        {% endif %}
        sinkhorn / cast(sum(sinkhorn) over (partition by g, c) as double) as sinkhorn
    from shared_{{ sweep }}
)
{% endfor %}

select
    g,
    c,
    n_people,
    s,
    n_rows,
    p,
    omega,
    sinkhorn
from swept_{{ sweeps }}
