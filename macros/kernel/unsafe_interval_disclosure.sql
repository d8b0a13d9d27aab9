{#
Groups of whom more than a share have numbers at most `width` apart, or no value; see criteria/interval_disclosure. The
share is compared in whole numbers of a millionth. Numbers apart by a hair more than the width count as near, so rounding fails a group
and passes none. Where a value is no number, no group passes.
out: g, n_rows, risk (the largest share)    grain: unsafe group
#}
{% macro unsafe_interval_disclosure(relation, quasi, sensitive, width, share) %}
{%- set value -%}
s
{%- endset -%}
with histogram as (
    {{ privacy_sql.group_histogram(relation, quasi, sensitive) }}
),
numbered as (
    select
        g,
        s,
        {{ privacy_sql.number(value) }} as place,
        n_rows
    from histogram
),
sizes as (
    select
        g,
        cast(sum(n_rows) as bigint) as n_rows,
        cast(sum(case when s is null then n_rows else 0 end) as bigint) as n_missing,
        cast(sum(case when s is not null and place is null then 1 else 0 end) as bigint) as n_stray
    from numbered
    group by g
),
-- a number counts from its own place to the last one near it, so a running count is a window that ends there
turns as (
    select
        g,
        place as point,
        0 as side,
        n_rows as n
    from numbered
    where place is not null
    union all
    select
        g,
        place + {{ privacy_sql.decimal(width) }}
        + {{ privacy_sql.decimal("1e-9") }}
        + abs(place) * {{ privacy_sql.decimal("1e-14") }} as point,
        1 as side,
        -n_rows as n
    from numbered
    where place is not null
),
running as (
    select
        g,
        cast(sum(n) over (
            partition by g order by point, side rows between unbounded preceding and current row
        ) as bigint) as n_near
    from turns
),
fullest as (
    select
        g,
        max(n_near) as n_near
    from running
    group by g
),
measured as (
    select
        p.g,
        p.n_rows,
        max(p.n_stray) over () as n_stray,
        greatest(p.n_missing, coalesce(f.n_near, 0)) as n_near
    from sizes as p
    left join fullest as f
        on p.g = f.g
)
select
    g,
    n_rows,
    cast(n_near as {{ privacy_sql.double() }}) / cast(n_rows as {{ privacy_sql.double() }}) as risk
from measured
where
    n_stray > 0
    -- the share has up to 6 decimals, so this is a whole number
    or n_near * 1000000 > n_rows * cast(
        floor({{ privacy_sql.decimal(share) }} * {{ privacy_sql.decimal(1000000) }} + {{ privacy_sql.decimal("0.5") }})
        as bigint
    )
{% endmacro %}
