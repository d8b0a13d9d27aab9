-- The values that all releases with a group for a combination of people leave possible.
-- in: releases [(located, held)]    out: person, s    grain: person, value
with located as (
    {% for located, held in releases %}
    select distinct
        cast({{ loop.index }} as bigint) as release,
        person
    from {{ located }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
known as (
    select
        person,
        count(*) as n_releases
    from located
    group by person
),
held as (
    {% for located, held in releases %}
    select
        person,
        s
    from {{ held }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
counted as (
    select
        person,
        s,
        count(*) as n_releases
    from held
    group by
        person,
        s
)
select
    counted.person,
    counted.s
from counted
inner join known
    on counted.person = known.person and counted.n_releases = known.n_releases
