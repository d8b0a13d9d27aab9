-- The groups and the people in them.
-- in: groups (g, n_people)    out: g, n_people    grain: group
select
    g,
    n_people
from {{ groups }}
