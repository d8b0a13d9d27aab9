-- Located people counted by least prior and by posterior anonymity: all that leaves the engine.
-- in: outcomes (n_people, prior_1.., posterior), priors
-- out: least_prior, posterior, people, ambiguous, sum_1.. (prior anonymity added up)    grain: pair of anonymities
with located as (
    select
        {% if priors | length > 1 %}
        least({{ privacy_sql.columns(priors) }}) as least_prior,
        {% else %}
        {{ priors[0] }} as least_prior,
        {% endif %}
        {{ privacy_sql.columns(priors) }},
        posterior,
        n_people,
        ambiguous
    from {{ outcomes }}
    where
        {% for prior in priors %}
        {{ prior }} is not null
        {% if not loop.last %}
        and
        {% endif %}
        {% endfor %}
)
select
    least_prior,
    posterior,
    cast(sum(n_people) as bigint) as people,
    cast(sum(n_people * ambiguous) as bigint) as ambiguous
    {% for prior in priors %},
    cast(sum(n_people * {{ prior }}) as bigint) as sum_{{ loop.index }}
    {% endfor %}

from located
group by
    least_prior,
    posterior
