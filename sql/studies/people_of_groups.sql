-- INTERNAL: some people of some groups, with their values, and nobody else's.
-- in: source, identifier, columns [(name, alias, dictionary)], members (g, the aliases), value (name, dictionary),
-- groups, wanted (the value in question), ruled_out (other values), most
-- out: person, g, kind, value    grain: one of the first `most` people of a group and kind
with found as (
    select
        cast(source.{{ adapter.quote(identifier) }} as varchar) as person,
        source.{{ adapter.quote(value[0]) }} as value,
        coalesce(d_value.code, cast(0 as bigint)) as value_code{% if columns %},{% endif %}

        {% for name, alias, dictionary in columns %}
        coalesce(d_{{ alias }}.code, cast(0 as bigint)) as {{ alias }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from {{ source }} as source
    left join {{ value[1] }} as d_value
        on source.{{ adapter.quote(value[0]) }} = d_value.value
    {% for name, alias, dictionary in columns %}
    left join {{ dictionary }} as d_{{ alias }}
        on source.{{ adapter.quote(name) }} = d_{{ alias }}.value
    {% endfor %}
),
placed as (
    select distinct
        found.person,
        members.g,
        case
            when found.value_code = {{ wanted }} then 'holder'
            {% for code in ruled_out %}
            when found.value_code = {{ code }} then 'ruled_out'
            {% endfor %}
            else 'other'
        end as kind,
        cast(found.value as varchar) as value
    from found
    {{ privacy_sql.in_groups(columns, members) }}
    where
        {% for g in groups %}
        members.g = {{ g }}{% if not loop.last %} or{% endif %}

        {% endfor %}
),
ranked as (
    select
        person,
        g,
        kind,
        value,
        row_number() over (partition by g, kind order by person) as place
    from placed
)
select
    person,
    g,
    kind,
    value
from ranked
where place <= {{ most }}
order by
    g,
    kind,
    place
