-- For people about whom the releases contradict each other, the fewest values that some of the releases together leave.
-- Of all sets of releases that share a value, the largest leaves the fewest: the values common to all releases with it.
-- in: outcomes (person, posterior), releases [(located, held (person, s))]    out: person, n_values    grain: person
with held as (
    {% for located, held in releases %}
    select
        cast({{ loop.index }} as bigint) as release,
        h.person,
        h.s
    from {{ held }} as h
    inner join {{ outcomes }} as o
        on h.person = o.person
    where o.posterior = 0
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
holding as (
    select
        person,
        s,
        count(*) as n_releases
    from held
    group by
        person,
        s
),
beside as (
    select
        a.person,
        a.s,
        b.s as other,
        count(*) as n_releases
    from held as a
    inner join held as b
        on a.person = b.person and a.release = b.release
    group by
        a.person,
        a.s,
        b.s
),
together as (
    select
        beside.person,
        beside.s,
        cast(count(*) as bigint) as n_values
    from beside
    inner join holding
        on
        beside.person = holding.person
        and beside.s = holding.s
        and beside.n_releases = holding.n_releases
    group by
        beside.person,
        beside.s
)
select
    person,
    min(n_values) as n_values
from together
group by person
