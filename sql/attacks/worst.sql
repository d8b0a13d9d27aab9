-- How much anonymity the worst world leaves each person, from all releases together, and from only those that agree.
-- Somebody with too many worlds to try counts as known for certain.
-- in: combinations (person, n_people), worlds (world, person) or none where each person has one, outcomes by world,
--     agreeing (person, n_values), readings (worlds of each way to lie in the releases), priors
-- out: person, world, n_people, prior_1.., posterior, ambiguous, fewest (values left by the releases that agree)
--     grain: person
with left_over as (
    select
        o.person as world,
        {% if worlds is none %}
        o.person,
        {% else %}
        w.person,
        {% endif %}
        {% for prior in priors %}
        o.{{ prior }},
        {% endfor %}
        o.posterior,
        o.ambiguous,
        case when o.posterior = 0 then a.n_values else o.posterior end as fewest
    from {{ outcomes }} as o
    {% if worlds is not none %}
    inner join {{ worlds }} as w
        on o.person = w.world
    {% endif %}
    left join {{ agreeing }} as a
        on o.person = a.person
),
numbered as (
    select
        world,
        person,
        {{ privacy_sql.columns(priors) }},
        posterior,
        ambiguous,
        fewest,
        cast(row_number() over (partition by person order by fewest, posterior desc, world) as bigint) as place
    from left_over
),
ways as (
    select
        person,
        count(*) as n_ways
    from left_over
    group by person
)
select
    c.person,
    n.world,
    c.n_people,
    {% for prior in priors %}
    case when n.person is null then cast(1 as bigint) else n.{{ prior }} end as {{ prior }},
    {% endfor %}
    case when n.person is null then cast(1 as bigint) else n.posterior end as posterior,
    case when n.person is null or w.n_ways > {{ readings }} then 1 else n.ambiguous end as ambiguous,
    case when n.person is null then cast(1 as bigint) else n.fewest end as fewest
from {{ combinations }} as c
left join numbered as n
    on c.person = n.person and n.place = 1
left join ways as w
    on c.person = w.person
