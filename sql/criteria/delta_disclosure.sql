-- How the frequencies of sensitive values in a group differ from those in the whole table, both ways.
-- in: histogram (g, s, n_rows), groups (g, n_people), overall (s, n_rows)
-- out: n_rows (0 where a group lacks a value of the table), n_people, n_overall, n_all, g
-- grain: the highest and the lowest count for each size of group and overall count (every count, by_group)
with total as (
    select
        cast(sum(n_rows) as bigint) as n_all,
        cast(count(*) as bigint) as n_values
    from {{ overall }}
),
shares as (
    {{ privacy_sql.group_shares(histogram, groups, overall) }}
),
placed as (
    select
        g,
        n_rows,
        n_people,
        n_overall,
        row_number() over (partition by n_people, n_overall order by n_rows desc, g) as place_from_top,
        row_number() over (partition by n_people, n_overall order by n_rows, g) as place_from_bottom
    from shares
),
lacking as (
    select
        h.g,
        row_number() over (order by h.g) as place
    from {{ histogram }} as h
    cross join total as t
    group by
        h.g,
        t.n_values
    having count(*) < t.n_values
)
select
    c.n_rows,
    c.n_people,
    c.n_overall,
    t.n_all,
    c.g
from placed as c
cross join total as t
{% if not by_group %}
where
    c.place_from_top = 1
    or c.place_from_bottom = 1
{% endif %}
union all
select
    cast(0 as bigint) as n_rows,
    p.n_people,
    cast(0 as bigint) as n_overall,
    t.n_all,
    l.g
from lacking as l
inner join {{ groups }} as p
    on l.g = p.g
cross join total as t
{% if not by_group %}
where l.place = 1
{% endif %}
