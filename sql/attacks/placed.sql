-- How many people a release has a group for.
-- in: outcomes (n_people, prior)    out: n_located    grain: one row
select cast(coalesce(sum(case when {{ prior }} is null then 0 else n_people end), 0) as bigint) as n_located
from {{ outcomes }}
