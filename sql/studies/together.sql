-- Sets of columns and the people they single out, from several relations.
-- in: pieces (members, id)    out: members, id
{% for piece in pieces %}
select
    members,
    id
from {{ piece }}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
