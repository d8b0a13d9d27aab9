-- How many people are exposed.
-- in: exposed (n_people)    out: n_people    grain: one row
select cast(coalesce(sum(n_people), 0) as bigint) as n_people
from {{ exposed }}
