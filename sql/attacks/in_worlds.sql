-- What a release says about people, for each world of all releases; the world replaces the person.
-- in: worlds (world, person, w_1..), number of the release, relation (person, w, column)
-- out: person (the world), column    grain: world and column
select
    o.world as person,
    r.{{ column }}
from {{ worlds }} as o
inner join {{ relation }} as r
    on o.person = r.person and o.w_{{ number }} = r.w
