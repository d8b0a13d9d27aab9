-- The combinations of the counted source in dictionary codes; NULL has code 0.
-- in: counted (the aliases, n_rows), dictionaries (part, code, columns of values), own [(alias, part, column)] in these,
--     given [(alias, dictionary)] of dictionaries that exist
-- out: the aliases as codes, n_rows    grain: combination
select
    {% for alias, part, column in own %}
    coalesce(d_{{ alias }}.code, cast(0 as bigint)) as {{ alias }},
    {% endfor %}
    {% for alias, dictionary in given %}
    coalesce(d_{{ alias }}.code, cast(0 as bigint)) as {{ alias }},
    {% endfor %}
    counted.n_rows
from {{ counted }} as counted
{% for alias, part, column in own %}
left join {{ dictionaries }} as d_{{ alias }}
    on d_{{ alias }}.part = {{ part }} and counted.{{ alias }} = d_{{ alias }}.{{ column }}
{% endfor %}
{% for alias, dictionary in given %}
left join {{ dictionary }} as d_{{ alias }}
    on counted.{{ alias }} = d_{{ alias }}.value
{% endfor %}
