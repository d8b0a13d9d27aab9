-- How many combinations of people a release has a group for.
-- in: located (person)    out: n_people    grain: one row
select cast(count(distinct person) as bigint) as n_people
from {{ located }}
