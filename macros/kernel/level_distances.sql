{#
The distance of every group from the whole table by a hierarchy of the sensitive value: the share that must move, averaged
over the levels below the top. Without a hierarchy all values are equally far apart.
in: histogram (g, s, n_rows)    out: distances (g, n_rows, distance, n_stray)    grain: group
#}
{% macro level_distances(hierarchy) %}
{%- set value -%}
s
{%- endset -%}
{%- set height = 1 if hierarchy is none else privacy_sql.height(hierarchy) | int -%}
labelled as (
    {% for level in range(height) %}
    select
        {{ level }} as level,
        g,
        cast({{ privacy_sql.recode(value, hierarchy, level) }} as varchar) as label,
        s,
        n_rows
    from histogram
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
counted as (
    select
        level,
        g,
        label,
        md5(label) as mark,
        cast(sum(n_rows) as bigint) as n_rows,
        -- a value outside the hierarchy
        {% if hierarchy is mapping and "tree" in hierarchy %}
        cast(sum(case
            when s is not null and cast(s as varchar) not in (
                {% for known in hierarchy["tree"] %}
                {{ privacy_sql.literal(known) }}{% if not loop.last %},{% endif %}

                {% endfor %}
            ) then 1
            else 0
        end) as bigint) as n_stray
        {% else %}
        cast(sum(case when label is null and s is not null then 1 else 0 end) as bigint) as n_stray
        {% endif %}
    from labelled
    group by
        level,
        g,
        label,
        md5(label)
),
shares as (
    select
        g,
        level,
        n_rows,
        cast(n_rows as {{ privacy_sql.double() }})
        / cast(sum(n_rows) over (partition by level, g) as {{ privacy_sql.double() }}) as share,
        cast(sum(n_rows) over (partition by level, label, mark) as {{ privacy_sql.double() }})
        / cast(sum(n_rows) over (partition by level) as {{ privacy_sql.double() }}) as overall,
        max(n_stray) over () as n_stray
    from counted
),
distances as (
    select
        g,
        cast(sum(case when level = 0 then n_rows else 0 end) as bigint) as n_rows,
        -- a label absent from the group adds as much as all present ones together take away
        cast(sum(case when share > overall then share - overall else 0 end) as {{ privacy_sql.double() }})
        / {{ height }} as distance,
        max(n_stray) as n_stray
    from shares
    group by g
)
{% endmacro %}
