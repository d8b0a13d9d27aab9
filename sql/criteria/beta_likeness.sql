-- How much more frequent the sensitive values are in a group than in the whole table.
-- in: histogram (g, s, n_rows), groups (g, n_people), overall (s, n_rows)
-- out: n_rows, n_people, n_overall, n_all, g    grain: the highest count for each size of group and overall
--      count (every count of every group, by_group)
with total as (
    select cast(sum(n_rows) as bigint) as n_all
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
        row_number() over (partition by n_people, n_overall order by n_rows desc, g) as place
    from shares
)
select
    p.n_rows,
    p.n_people,
    p.n_overall,
    t.n_all,
    p.g
from placed as p
cross join total as t
{% if not by_group %}
where p.place = 1
{% endif %}
