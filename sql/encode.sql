-- The counted source in dictionary codes. NULL keeps code 0, so that later joins need only `=`.
-- in: counted, dictionaries [(column, dictionary)]    out: the columns as codes, n_rows    grain: as counted
select
    {% for column, dictionary in dictionaries %}
    coalesce(d_{{ column }}.code, cast(0 as bigint)) as {{ column }},
    {% endfor %}
    counted.n_rows
from {{ counted }} as counted
{% for column, dictionary in dictionaries %}
left join {{ dictionary }} as d_{{ column }}
    on counted.{{ column }} = d_{{ column }}.value
{% endfor %}
