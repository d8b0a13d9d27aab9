-- For each column how many people have a minimal unique set with it.
-- in: minimal (members, id), inside (members, place)    out: place (of the column), n_people    grain: column
select
    inside.place,
    cast(count(distinct found.id) as bigint) as n_people
from {{ minimal }} as found
inner join {{ inside }} as inside
    on found.members = inside.members
group by inside.place
