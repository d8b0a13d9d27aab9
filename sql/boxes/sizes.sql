-- The people of every part, in the order of their numbers.
-- in: groups (g, n_people)    out: g, n_people    grain: part
select
    g,
    n_people
from {{ groups }}
order by g
