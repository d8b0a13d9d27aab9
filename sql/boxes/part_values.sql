-- How often each sensitive value occurs in each part.
-- in: parts (g, [s], measure), measure, by_value, several (whether other counts lie in between)    out: g, [s], n_rows
-- grain: part, value
select
    g,
    {% if by_value %}
    s,
    {% endif %}
    {{ measure }} as n_rows
from {{ parts }}
{% if by_value and several %}
where s is not null
{% endif %}
