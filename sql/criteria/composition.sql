-- How many people are left with how many possible values, from all releases that have a group for them.
-- in: outcomes (n_people, prior_1.., posterior, fewest), priors
-- out: fewest (NULL: in no release), everywhere (in every release), shared (in several), contradicted, people
--     grain: one of each
with judged as (
    select
        n_people,
        fewest,
        case when posterior = 0 then 1 else 0 end as contradicted,
        {% for prior in priors %}
        case when {{ prior }} is null then 0 else 1 end
        {% if not loop.last %}
        +
        {% endif %}
        {% endfor %}
        as n_releases
    from {{ outcomes }}
)
select
    fewest,
    case when n_releases = {{ priors | length }} then 1 else 0 end as everywhere,
    case when n_releases > 1 then 1 else 0 end as shared,
    contradicted,
    cast(sum(n_people) as bigint) as people
from judged
group by
    fewest,
    case when n_releases = {{ priors | length }} then 1 else 0 end,
    case when n_releases > 1 then 1 else 0 end,
    contradicted
