-- The published rows of a partition: how far each box reaches along every quasi-identifier, the other columns unchanged.
-- Boxes were put in order before the rows, so a row is joined and compared once, not for every column.
-- The order is that of the published values, so it says nothing about the order of the source.
-- in: rows (g, q1.., others), places (g, aliases, place), shown [(name, alias, labelled)], group_id
-- out: [group_id], the shown columns    grain: row
select
    {% if group_id is not none %}
    rows.g as {{ adapter.quote(group_id) }},
    {% endif %}
    {% for name, alias, labelled in shown %}
    {% if labelled %}places{% else %}rows{% endif %}.{{ alias }} as {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ rows }} as rows
inner join {{ places }} as places
    on rows.g = places.g
order by
    places.place{% for name, alias, labelled in shown if not labelled %},
    {{ adapter.quote(name) }}{% endfor %}

