-- How many people some set of columns singles out.
-- in: unique (members, id)    out: n_people    grain: one row
select cast(count(distinct id) as bigint) as n_people
from {{ unique }}
