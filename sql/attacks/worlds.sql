-- Every way in which each combination of people may be in the releases; combinations with too many ways are left out.
-- in: combinations (person, n_people), releases [located (person, w)], most,
--     readings (1, or 2 where the values may be meant in two ways: each is a world)
-- out: world, person, n_people, w_1.. (NULL: not in that release), reading if 2    grain: world
with
{% for located in releases %}
ways_{{ loop.index }} as (
    select distinct
        person,
        w
    from {{ located }}
),
number_{{ loop.index }} as (
    select
        person,
        cast(count(*) as double) as n_ways
    from ways_{{ loop.index }}
    group by person
),
{% endfor %}
few as (
    select
        c.person,
        c.n_people
    from {{ combinations }} as c
    {% for located in releases %}
    left join number_{{ loop.index }} as n{{ loop.index }}
        on c.person = n{{ loop.index }}.person
    {% endfor %}
    where
        {% for located in releases %}
        coalesce(n{{ loop.index }}.n_ways, cast(1 as double))
        {% if not loop.last %}
        *
        {% endif %}
        {% endfor %}
        <= cast({{ most }} as double)
)
select
    cast(
        row_number() over (
            order by
                few.person,
                {% for located in releases %}
                ways_{{ loop.index }}.w{% if not loop.last or readings > 1 %},{% endif %}

                {% endfor %}
                {% if readings > 1 %}
                read_as.reading
                {% endif %}
        ) as bigint
    ) as world,
    few.person,
    few.n_people,
    {% for located in releases %}
    ways_{{ loop.index }}.w as w_{{ loop.index }}{% if not loop.last or readings > 1 %},{% endif %}

    {% endfor %}
    {% if readings > 1 %}
    read_as.reading
    {% endif %}
from few
{% for located in releases %}
left join ways_{{ loop.index }}
    on few.person = ways_{{ loop.index }}.person
{% endfor %}
{% if readings > 1 %}
cross join (
    select 1 as reading
    union all
    select 2 as reading
) as read_as
{% endif %}
