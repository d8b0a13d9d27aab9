-- What is published of each box along a hierarchy: the lowest node that holds all its values.
-- in: final (c, g), combinations, levels (code, l0..), codes (code, c0..), column, height    out: g, label    grain: box
with reach as (
    select
        final.g
        {% for level in range(height) %},
        min(combinations.y_{{ column }}_{{ level }}) as lo_{{ level }},
        max(combinations.y_{{ column }}_{{ level }}) as hi_{{ level }}
        {% endfor %}

    from {{ final }} as final
    inner join {{ combinations }} as combinations
        on final.c = combinations.c
    group by final.g
)
{% for level in range(height) %},
named_{{ level }} as (
    select
        codes.c{{ level }} as code,
        min(cast(levels.l{{ level }} as varchar)) as label
    from {{ levels }} as levels
    inner join {{ codes }} as codes
        on levels.code = codes.code
    group by codes.c{{ level }}
)
{% endfor %}
select
    reach.g,
    case
        {% for level in range(height) %}
        when reach.lo_{{ level }} = reach.hi_{{ level }} then named_{{ level }}.label
        {% endfor %}
        else '*'
    end as label
from reach
{% for level in range(height) %}
inner join named_{{ level }}
    on reach.lo_{{ level }} = named_{{ level }}.code
{% endfor %}
