{#
The distance of every group from the whole table where sensitive values are numbers: how many places they must move,
over the number of places there are to move.
in: histogram (g, s, n_rows)    out: distances (g, n_rows, distance, n_stray)    grain: group
#}
{% macro ordered_distances() %}
{%- set value -%}
s
{%- endset -%}
numbered as (
    select
        g,
        s,
        {{ privacy_sql.number(value) }} as place,
        n_rows
    from histogram
),
line as (
    select
        place,
        cast(sum(n_rows) as bigint) as n_rows
    from numbered
    where place is not null
    group by place
),
-- numbers that one double cannot tell apart have no order
blurred as (
    select place
    from numbered
    where place is not null
    group by place
    having
        count(distinct cast(s as varchar)) > 1
        and max(length(cast(s as varchar))) > 15
),
sizes as (
    select
        n.g,
        cast(sum(n.n_rows) as bigint) as n_rows,
        cast(sum(case when n.place is null or b.place is not null then 1 else 0 end) as bigint) as n_stray
    from numbered as n
    left join blurred as b
        on n.place = b.place
    group by n.g
),
laid as (
    select
        p.g,
        p.n_rows as n_people,
        max(p.n_stray) over () as n_stray,
        l.place,
        l.n_rows as n_overall,
        cast(coalesce(sum(n.n_rows), 0) as bigint) as n_rows
    from sizes as p
    cross join line as l
    left join numbered as n
        on
            p.g = n.g
            and l.place = n.place
    group by
        p.g,
        p.n_rows,
        p.n_stray,
        l.place,
        l.n_rows
),
shares as (
    select
        g,
        n_people,
        n_stray,
        cast(sum(n_rows) over (
            partition by g order by place rows between unbounded preceding and current row
        ) as {{ privacy_sql.double() }}) / cast(n_people as {{ privacy_sql.double() }}) as reached,
        cast(sum(n_overall) over (
            partition by g order by place rows between unbounded preceding and current row
        ) as {{ privacy_sql.double() }}) / cast(sum(n_overall) over (partition by g) as {{ privacy_sql.double() }}) as overall
    from laid
),
distances as (
    select
        g,
        max(n_people) as n_rows,
        cast(sum(abs(reached - overall)) as {{ privacy_sql.double() }}) / greatest(count(*) - 1, 1) as distance,
        max(n_stray) as n_stray
    from shares
    group by g
    union all
    -- nothing is a number
    select
        g,
        n_rows,
        {{ privacy_sql.decimal(1) }} as distance,
        n_stray
    from sizes
    where not exists (select 1 from line)
)
{% endmacro %}
