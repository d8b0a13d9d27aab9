-- How many people each part holds.
-- in: parts (g, n_people)    out: g, n_people    grain: part
select
    g,
    cast(sum(n_people) as bigint) as n_people
from {{ parts }}
group by g
