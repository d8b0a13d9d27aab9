{#
Groups of whom more than a share have near values, or no value; see criteria/interval_disclosure. `distance` is absolute (numbers
at most `width` apart), relative (of one sign, the largest at most 1 + width times the smallest), hierarchical (under one label of
`hierarchy`, at most `width` of its height up) or matrix (at most `width` from one value of `matrix`, {value: {value: distance}}).
The share is compared in whole millionths. Numbers slightly further apart than the width count as near, so rounding
may fail a group and never passes one. Where a value is no number, or neither the hierarchy nor the matrix knows it, no group passes.
out: g, n_rows, risk (the largest share)    grain: unsafe group
#}
{% macro unsafe_interval_disclosure(
    relation, quasi, sensitive, width, share, distance="absolute", hierarchy=none, matrix=none
) %}
{%- set value -%}
s
{%- endset -%}
with histogram as (
    {{ privacy_sql.group_histogram(relation, quasi, sensitive) }}
),
{% if distance == "hierarchical" %}
{%- set height = privacy_sql.height(hierarchy) | int -%}
{%- set nearest = namespace(level=0) -%}
{%- for level in range(1, height + 1) -%}
{%- if level / height - 0.000000001 <= width | float -%}
{%- set nearest.level = level -%}
{%- endif -%}
{%- endfor -%}
numbered as (
    select
        g,
        s,
        -- a value the hierarchy does not know
        {% if hierarchy is mapping and "tree" in hierarchy %}
        case when cast(s as varchar) in (
            {% for known in hierarchy["tree"] %}
            {{ privacy_sql.literal(known) }}{% if not loop.last %},{% endif %}

            {% endfor %}
        ) then 0 else 1 end as is_stray,
        {% else %}
        case when {{ privacy_sql.recode(value, hierarchy, [1, height] | min) }} is null then 1 else 0 end as is_stray,
        {% endif %}
        n_rows
    from histogram
),
labelled as (
    select
        g,
        cast({{ privacy_sql.recode(value, hierarchy, nearest.level) }} as varchar) as label,
        n_rows
    from numbered
    where s is not null
),
near as (
    select
        g,
        cast(sum(n_rows) as bigint) as n_near
    from labelled
    group by
        g,
        label
),
{% elif distance == "matrix" %}
numbered as (
    select
        g,
        s,
        case when cast(s as varchar) in (
            {% for known in matrix %}
            {{ privacy_sql.literal(known) }}{% if not loop.last %},{% endif %}

            {% endfor %}
        ) then 0 else 1 end as is_stray,
        n_rows
    from histogram
),
near as (
    {% for centre, cells in matrix.items() %}
    select
        g,
        cast(sum(n_rows) as bigint) as n_near
    from numbered
    where cast(s as varchar) in (
        {{ privacy_sql.literal(centre) }}
        {%- for other, cell in cells.items() %}
        {%- if cell | float - 0.000000001 <= width | float -%}
        , {{ privacy_sql.literal(other) }}
        {%- endif %}
        {%- endfor %}

    )
    group by g
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
{% elif distance == "absolute" or distance == "relative" %}
placed as (
    select
        g,
        s,
        {{ privacy_sql.number(value) }} as place,
        n_rows
    from histogram
),
numbered as (
    select
        g,
        s,
        place,
        case when place is null then 1 else 0 end as is_stray,
        n_rows
    from placed
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
        {% if distance == "relative" %}
        case
            when place > {{ privacy_sql.decimal(0) }} then place * ({{ privacy_sql.decimal(1) }} + {{ privacy_sql.decimal(width) }})
            * ({{ privacy_sql.decimal(1) }} + {{ privacy_sql.decimal("1e-12") }})
            when place < {{ privacy_sql.decimal(0) }} then place / ({{ privacy_sql.decimal(1) }} + {{ privacy_sql.decimal(width) }})
            * ({{ privacy_sql.decimal(1) }} - {{ privacy_sql.decimal("1e-12") }})
            else place
        end as point,
        {% else %}
        place + {{ privacy_sql.decimal(width) }}
        + {{ privacy_sql.decimal("1e-9") }}
        + abs(place) * {{ privacy_sql.decimal("1e-14") }} as point,
        {% endif %}
        1 as side,
        -n_rows as n
    from numbered
    where place is not null
),
near as (
    select
        g,
        cast(sum(n) over (
            partition by g order by point, side rows between unbounded preceding and current row
        ) as bigint) as n_near
    from turns
),
{% else %}
{{ privacy_sql.refuse("near_safe", "distance is absolute, relative, hierarchical or matrix") }}
{% endif %}
sizes as (
    select
        g,
        cast(sum(n_rows) as bigint) as n_rows,
        cast(sum(case when s is null then n_rows else 0 end) as bigint) as n_missing,
        cast(sum(case when s is not null then is_stray else 0 end) as bigint) as n_stray
    from numbered
    group by g
),
fullest as (
    select
        g,
        max(n_near) as n_near
    from near
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
    or n_near * 1000000 > {{ privacy_sql.millionths(share) }}
{% endmacro %}
