-- Sets of columns that single a person out, while no smaller part of the set does.
-- in: unique (members, id), smaller (the same of sets with one column less), parts (members, part)
-- out: members, id    grain: set and person
with covered as (
    select distinct
        found.members,
        found.id
    from {{ unique }} as found
    inner join {{ parts }} as parts
        on found.members = parts.members
    inner join {{ smaller }} as smaller
        on
            parts.part = smaller.members
            and found.id = smaller.id
)
select
    found.members,
    found.id
from {{ unique }} as found
left join covered
    on
        found.members = covered.members
        and found.id = covered.id
where covered.id is null
