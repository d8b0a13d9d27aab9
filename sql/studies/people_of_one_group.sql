-- Some people of one group by their identifier, those with one sensitive value first.
-- Internal, only when a person asks to see values.
-- in: source, identifier, columns [(name, alias, dictionary)], sensitive (name), values (code, value), code,
--     members (g, the aliases), group, most
-- out: name, holds (1 has the value)    grain: person
with found as (
    select
        cast(source.{{ adapter.quote(identifier) }} as varchar) as name,
        {% if sensitive %}
        coalesce(v.code, cast(0 as bigint)) as s
        {% else %}
        cast(0 as bigint) as s
        {% endif %}
        {% for name, alias, dictionary in columns %},
        coalesce(d_{{ alias }}.code, cast(0 as bigint)) as {{ alias }}
        {% endfor %}

    from {{ source }} as source
    {% if sensitive %}
    left join {{ values }} as v
        on source.{{ adapter.quote(sensitive) }} = v.value
    {% endif %}
    {% for name, alias, dictionary in columns %}
    left join {{ dictionary }} as d_{{ alias }}
        on source.{{ adapter.quote(name) }} = d_{{ alias }}.value
    {% endfor %}
    where source.{{ adapter.quote(identifier) }} is not null
),
named as (
    select
        found.name,
        max(case when found.s = {{ code }} then 1 else 0 end) as holds
    from found
    inner join {{ members }} as members
        on
        members.g = {{ group }}
        {% for name, alias, dictionary in columns %}
        and found.{{ alias }} = members.{{ alias }}
        {% endfor %}
    group by found.name
),
ordered as (
    select
        name,
        holds,
        row_number() over (order by holds desc, name) as place
    from named
)
select
    name,
    holds
from ordered
where place <= {{ most }}
order by place
