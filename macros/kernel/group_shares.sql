{# Each sensitive value that a group shows, with the counts behind its share there and in the whole table. #}
{% macro group_shares(histogram, groups, overall) %}
select
    h.g,
    h.n_rows,
    p.n_people,
    o.n_rows as n_overall
from {{ histogram }} as h
inner join {{ groups }} as p
    on h.g = p.g
inner join {{ overall }} as o
    on h.s = o.s
{% endmacro %}
