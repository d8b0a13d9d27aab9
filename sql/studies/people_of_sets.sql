-- For how many people each set of columns is a minimal unique set.
-- in: minimal (members, id)    out: members, n_people    grain: set
select
    members,
    cast(count(*) as bigint) as n_people
from {{ minimal }}
group by members
