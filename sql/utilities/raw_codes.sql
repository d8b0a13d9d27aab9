-- The raw values of a column as codes, each with the code of its label at one level.
-- in: codes (code, c0..cH) or a dictionary (code), level or none    out: code, label    grain: value
select
    code,
    {% if level is none %}
    code as label
    {% else %}
    c{{ level }} as label
    {% endif %}
from {{ codes }}
