-- Several pieces of a partition as one.
-- in: pieces (c, box)    out: c, box    grain: combination
{% for piece in pieces %}
select
    c,
    box
from {{ piece }}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
