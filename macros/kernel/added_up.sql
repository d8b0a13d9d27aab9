{#
The measures `counted` for each place of each box, added up.
out: box, way, place, [c], told, measures    grain: box, way, place and what is told
#}
{% macro added_up(relaxed, told, measures) %}
select
    box,
    way,
    place,
    {% if relaxed %}
    c,
    {% endif %}
    {% for name in told %}
    {{ name }},
    {% endfor %}
    {% for measure in measures %}
    cast(sum({{ measure }}) as bigint) as {{ measure }}{% if not loop.last %},{% endif %}

    {% endfor %}
from counted
group by
    box,
    way,
    {% if relaxed %}
    c,
    {% endif %}
    {% for name in told %}
    {{ name }},
    {% endfor %}
    place
{% endmacro %}
