-- The people whom sets of columns single out. A set is the sum of its columns' bits; a code is never NULL.
-- in: counted (id, the columns as codes, n_rows), columns [(column, bit)], sets [[column]]
-- out: members (of the set), id    grain: set and person alone in it
select
    {% for column, bit in columns %}
    case when {{ column }} is null then cast(0 as bigint) else cast({{ bit }} as bigint) end{% if not loop.last %} +{% else %} as members,{% endif %}

    {% endfor %}
    min(id) as id
from {{ counted }}
group by grouping sets (
    {% for members in sets %}
    ({% for column in members %}{{ column }}{% if not loop.last %}, {% endif %}{% endfor %}){% if not loop.last %},{% endif %}

    {% endfor %}
)
having cast(sum(n_rows) as bigint) = 1
