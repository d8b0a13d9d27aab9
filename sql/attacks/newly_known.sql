-- People whose value is certain from the releases together, and from none of them alone.
-- in: outcomes (n_people, prior_1.., fewest), priors    out: n_people    grain: one row
select cast(coalesce(sum(n_people), 0) as bigint) as n_people
from {{ outcomes }}
where
    fewest = 1
    {% for prior in priors %}
    and coalesce({{ prior }}, 2) > 1
    {% endfor %}
