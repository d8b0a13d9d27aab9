-- Counts without the combinations of labels and sensitive values that are left out.
-- in: counted (columns), removed (aliases), pairs [(place, alias)], columns    out: columns    grain: as counted
select
    {% for column in columns %}
    counted.{{ column }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ counted }} as counted
left join {{ removed }} as removed
    on
    {% for place, alias in pairs %}
    counted.{{ place }} = removed.{{ alias }}
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
where removed.{{ pairs[0][1] }} is null
