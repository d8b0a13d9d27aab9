-- One part of the counted source: its combinations in codes, or the dictionary of one column.
-- in: counted (part), columns [(column, alias)]    out: the aliases    grain: as the part
select
    {% for column, alias in columns %}
    {{ column }} as {{ alias }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ counted }}
where part = {{ part }}
