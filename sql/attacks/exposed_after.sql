-- People who are exposed once some of the tried parts are cut off.
-- in: located (person, g), outcomes (person, n_people, fewest), exposed (person, n_people) before, taken (g), most
-- out: person, n_people    grain: person
with moved as (
    select distinct l.person
    from {{ located }} as l
    inner join {{ taken }} as t
        on l.g = t.g
)
select
    e.person,
    e.n_people
from {{ exposed }} as e
left join moved as m
    on e.person = m.person
where m.person is null
union all
select
    o.person,
    o.n_people
from {{ outcomes }} as o
inner join moved as m
    on o.person = m.person
where o.fewest <= {{ most }}
