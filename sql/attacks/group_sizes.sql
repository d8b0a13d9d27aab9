-- Sizes of the groups people were located in, beside the smallest group of the release.
-- in: groups (g, n_people), located (person, g), combinations (person, n_people)
-- out: smallest, n_pairs (people and groups that fit), sum_sizes    grain: one row
with fits as (
    select
        l.g,
        cast(sum(c.n_people) as bigint) as n_fitting
    from {{ located }} as l
    inner join {{ combinations }} as c
        on l.person = c.person
    group by l.g
)
select
    min(g.n_people) as smallest,
    cast(coalesce(sum(f.n_fitting), 0) as bigint) as n_pairs,
    cast(coalesce(sum(f.n_fitting * g.n_people), 0) as bigint) as sum_sizes
from {{ groups }} as g
left join fits as f
    on g.g = f.g
