-- The published labels and sensitive values of the groups that are left out.
-- in: counted (g, columns), gone (g), columns [(place, alias)]    out: aliases    grain: combination
select
    {% for place, alias in columns %}
    counted.{{ place }} as {{ alias }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ counted }} as counted
inner join {{ gone }} as gone
    on counted.g = gone.g
group by
    {% for place, alias in columns %}
    counted.{{ place }}{% if not loop.last %},{% endif %}

    {% endfor %}
