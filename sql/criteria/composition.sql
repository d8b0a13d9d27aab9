-- How many people are left with how many possible values, after all releases are taken together.
-- in: outcomes (n_people, prior_1.., posterior), priors
-- out: posterior (NULL: not in every release), people    grain: posterior anonymity
with judged as (
    select
        n_people,
        case
            when
                {% for prior in priors %}
                {{ prior }} is null
                {% if not loop.last %}
                or
                {% endif %}
                {% endfor %}
                then null
            else posterior
        end as posterior
    from {{ outcomes }}
)
select
    posterior,
    cast(sum(n_people) as bigint) as people
from judged
group by posterior
