-- How many more people each tried part would expose.
-- in: located (person, g), outcomes (person, n_people, fewest), exposed (person) now, most    out: g, n_more    grain: part
with placed as (
    select distinct
        person,
        g
    from {{ located }}
)
select
    p.g,
    cast(sum(
        o.n_people * (case when o.fewest <= {{ most }} then 1 else 0 end - case when e.person is null then 0 else 1 end)
    ) as bigint) as n_more
from placed as p
inner join {{ outcomes }} as o
    on p.person = o.person
left join {{ exposed }} as e
    on p.person = e.person
group by p.g
