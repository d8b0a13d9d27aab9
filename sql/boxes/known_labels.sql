-- What tells boxes apart along a column that is published as it is: the one value that each of them holds.
-- in: final (c, g), members (g as combination, q1..), column    out: g, label (a code)    grain: box
select
    final.g,
    min(members.{{ column }}) as label
from {{ final }} as final
inner join {{ members }} as members
    on final.c = members.g
group by final.g
