-- How much more frequent the sensitive values are in a group than in the whole table.
-- in: histogram (g, s, n_rows), groups (g, n_people), overall (s, n_rows)
-- out: n_rows, n_people, n_overall, n_all, g    grain: the highest count for each size of group and overall
--      count (every count of every group, by_group)
with total as (
    select cast(sum(n_rows) as bigint) as n_all
    from {{ overall }}
),
compared as (
    select
        h.g,
        h.n_rows,
        p.n_people,
        o.n_rows as n_overall,
        row_number() over (partition by p.n_people, o.n_rows order by h.n_rows desc, h.g) as place
    from {{ histogram }} as h
    inner join {{ groups }} as p
        on h.g = p.g
    inner join {{ overall }} as o
        on h.s = o.s
)
select
    c.n_rows,
    c.n_people,
    c.n_overall,
    t.n_all,
    c.g
from compared as c
cross join total as t
{% if not by_group %}
where c.place = 1
{% endif %}
