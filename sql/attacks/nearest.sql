-- The groups whose centroid is nearest to each combination of people; all of them where several tie.
-- in: people (person, columns), members (g, columns), values and labels (k, code, exact, number),
--     columns [(k, people's, group's, scale as text, whether all are numbers)]
-- out: person, w (one world), g    grain: person, group
with people as (
    select
        p.person
        {% for k, theirs, published, scale, numeric in columns %},
        v{{ k }}.exact as e{{ k }},
        v{{ k }}.number / cast({{ privacy_sql.literal(scale) }} as double) as n{{ k }}
        {% endfor %}

    from {{ people }} as p
    {% for k, theirs, published, scale, numeric in columns %}
    inner join {{ values }} as v{{ k }}
        on v{{ k }}.k = {{ k }} and p.{{ theirs }} = v{{ k }}.code
    {% endfor %}
),
centres as (
    select
        m.g
        {% for k, theirs, published, scale, numeric in columns %},
        l{{ k }}.exact as e{{ k }},
        l{{ k }}.number / cast({{ privacy_sql.literal(scale) }} as double) as n{{ k }}
        {% endfor %}

    from {{ members }} as m
    {% for k, theirs, published, scale, numeric in columns %}
    inner join {{ labels }} as l{{ k }}
        on l{{ k }}.k = {{ k }} and m.{{ published }} = l{{ k }}.code
    {% endfor %}
),
distances as (
    select
        p.person,
        c.g,
        cast(0 as double)
        {% for k, theirs, published, scale, numeric in columns %}
        {% if numeric %}
        + (p.n{{ k }} - c.n{{ k }}) * (p.n{{ k }} - c.n{{ k }})
        {% else %}
        + case
            when p.n{{ k }} is not null and c.n{{ k }} is not null
                then (p.n{{ k }} - c.n{{ k }}) * (p.n{{ k }} - c.n{{ k }})
            when coalesce(p.e{{ k }}, '') = coalesce(c.e{{ k }}, '') then cast(0 as double)
            else cast(1 as double)
        end
        {% endif %}
        {% endfor %}
        as distance
    from people as p
    cross join centres as c
),
least_distances as (
    select
        person,
        min(distance) as least_distance
    from distances
    group by person
)
select distinct
    d.person,
    cast(0 as bigint) as w,
    d.g
from distances as d
inner join least_distances as n
    on d.person = n.person
-- sums of squares of equal gaps may differ in the last digits
where
    d.distance <= n.least_distance * (cast(1 as double) + cast('1e-12' as double)) + cast('1e-15' as double)
