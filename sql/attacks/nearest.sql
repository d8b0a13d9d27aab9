-- The groups whose centroid is nearest to each combination of people; ties return all.
-- in: people (person, columns), members (g, columns),
--     columns [(people's, group's, people's readable, group's readable, scale as text)]
-- out: person, g    grain: person, group
with distances as (
    select
        p.person,
        m.g,
        cast(0 as double)
        {% for theirs, published, values, labels, scale in columns %}
        + case
            when v_{{ theirs }}.number is not null and l_{{ published }}.number is not null
                then pow(
                    (v_{{ theirs }}.number - l_{{ published }}.number)
                    / cast({{ privacy_sql.literal(scale) }} as double),
                    cast(2 as double)
                )
            when v_{{ theirs }}.exact = l_{{ published }}.exact then cast(0 as double)
            else cast(1 as double)
        end
        {% endfor %}
        as distance
    from {{ people }} as p
    cross join {{ members }} as m
    {% for theirs, published, values, labels, scale in columns %}
    inner join {{ values }} as v_{{ theirs }}
        on p.{{ theirs }} = v_{{ theirs }}.code
    inner join {{ labels }} as l_{{ published }}
        on m.{{ published }} = l_{{ published }}.code
    {% endfor %}
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
    d.g
from distances as d
inner join least_distances as n
    on d.person = n.person
-- sums of squares of equal gaps may differ in the last digits
where
    d.distance <= n.least_distance * (cast(1 as double) + cast('1e-12' as double)) + cast('1e-15' as double)
