-- How many people share the labels of each set of columns, all sets in one reading. A set is the sum of its columns' bits;
-- a code is never NULL.
-- in: counted (g, the columns as codes, n_rows), columns [(column, bit)], sets [[column]]
-- out: members (of the set), n_people, n_top (0), n_groups    grain: set and size
with cells as (
    {{ privacy_sql.people_of_sets(counted, columns, sets) }}
)
select
    members,
    n_people,
    cast(0 as bigint) as n_top,
    cast(count(*) as bigint) as n_groups
from cells
group by
    members,
    n_people
