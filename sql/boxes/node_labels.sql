-- What is published of each box along a hierarchy: the lowest node that holds all its values.
-- in: reach (box, lo, hi), levels (code, l0..), codes (code, c0..), column, height    out: g, label    grain: box
with {% for level in range(height) %}
named_{{ level }} as (
    select
        codes.c{{ level }} as code,
        min(cast(levels.l{{ level }} as varchar)) as label
    from {{ levels }} as levels
    inner join {{ codes }} as codes
        on levels.code = codes.code
    group by codes.c{{ level }}
){% if not loop.last %},{% endif %}

{% endfor %}
select
    reach.box as g,
    case
        {% for level in range(height) %}
        when reach.lo_{{ column }}_{{ level }} = reach.hi_{{ column }}_{{ level }} then named_{{ level }}.label
        {% endfor %}
        else '*'
    end as label
from {{ reach }} as reach
{% for level in range(height) %}
inner join named_{{ level }}
    on reach.lo_{{ column }}_{{ level }} = named_{{ level }}.code
{% endfor %}
