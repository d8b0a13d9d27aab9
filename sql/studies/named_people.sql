-- The group of each named person, and nobody else's.
-- in: source, identifier, named (position, name), columns [(name, alias, dictionary)], members (g, the aliases)
-- out: position, g    grain: named person
with found as (
    select
        named.position
        {% for name, alias, dictionary in columns %},
        coalesce(d_{{ alias }}.code, cast(0 as bigint)) as {{ alias }}
        {% endfor %}

    from {{ source }} as source
    inner join {{ named }} as named
        on cast(source.{{ adapter.quote(identifier) }} as varchar) = named.name
    {% for name, alias, dictionary in columns %}
    left join {{ dictionary }} as d_{{ alias }}
        on source.{{ adapter.quote(name) }} = d_{{ alias }}.value
    {% endfor %}
)
select distinct
    found.position,
    members.g
from found
{{ privacy_sql.in_groups(columns, members) }}
