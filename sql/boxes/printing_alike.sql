-- The contents of groups that publish the same labels, taken together.
-- in: relation (g, columns, n), alike (g, lowest)    out: g, columns, n_rows    grain: group and columns
select
    alike.lowest as g,
    {% for column in columns %}
    relation.{{ column }},
    {% endfor %}
    cast(sum(relation.{{ n }}) as bigint) as n_rows
from {{ relation }} as relation
inner join {{ alike }} as alike
    on relation.g = alike.g
group by
    alike.lowest{% if columns %},{% endif %}

    {% for column in columns %}
    relation.{{ column }}{% if not loop.last %},{% endif %}

    {% endfor %}
