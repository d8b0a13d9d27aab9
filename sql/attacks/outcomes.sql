-- Effective anonymity of each combination of people before and after the attack.
-- in: combinations (person, n_people), person (its column of worlds, where they stand in), releases [(located, held)], possible (person, s)
-- out: person, n_people, prior_1.. (NULL: not located), posterior (NULL: located nowhere), ambiguous    grain: person
with
{% for located, held in releases %}
values_{{ loop.index }} as (
    select
        person,
        cast(count(*) as bigint) as n_values
    from {{ held }}
    group by person
),
groups_{{ loop.index }} as (
    select
        person,
        cast(count(*) as bigint) as n_groups
    from {{ located }}
    group by person
),
{% endfor %}
left_over as (
    select
        person,
        cast(count(*) as bigint) as n_values
    from {{ possible }}
    group by person
)
select
    c.{{ person }} as person,
    c.n_people,
    {% for located, held in releases %}
    v{{ loop.index }}.n_values as prior_{{ loop.index }},
    {% endfor %}
    case
        when
            {% for located, held in releases %}
            v{{ loop.index }}.person is null
            {% if not loop.last %}
            and
            {% endif %}
            {% endfor %}
            then null
        else coalesce(l.n_values, cast(0 as bigint))
    end as posterior,
    case
        when
            {% for located, held in releases %}
            coalesce(g{{ loop.index }}.n_groups, 0) > 1
            {% if not loop.last %}
            or
            {% endif %}
            {% endfor %}
            then 1
        else 0
    end as ambiguous
from {{ combinations }} as c
{% for located, held in releases %}
left join values_{{ loop.index }} as v{{ loop.index }}
    on c.{{ person }} = v{{ loop.index }}.person
left join groups_{{ loop.index }} as g{{ loop.index }}
    on c.{{ person }} = g{{ loop.index }}.person
{% endfor %}
left join left_over as l
    on c.{{ person }} = l.person
