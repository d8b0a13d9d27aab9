-- How well sets of columns distinguish people. A set is the sum of its columns' bits; a code is never NULL.
-- in: counted (id, the columns as codes, n_rows), columns [(column, bit)], sets [[column]]
-- out: members (of the set), n_groups, n_unique (of one person), n_pairs (ordered, who share a group)    grain: set
with groups as (
    {{ privacy_sql.people_of_sets(counted, columns, sets) }}
)
select
    members,
    cast(count(*) as bigint) as n_groups,
    cast(sum(case when n_people = 1 then 1 else 0 end) as bigint) as n_unique,
    cast(sum(n_people * (n_people - 1)) as bigint) as n_pairs
from groups
group by members
