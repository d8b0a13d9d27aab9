-- The groups and sensitive values whose source rows are left out.
-- in: counted (g, places, s), removed (aliases), pairs [(place, alias)]    out: g, s    grain: group, sensitive value
select
    counted.g,
    counted.s
from {{ counted }} as counted
inner join {{ removed }} as removed
    on
    {% for place, alias in pairs %}
    counted.{{ place }} = removed.{{ alias }}
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
group by
    counted.g,
    counted.s
