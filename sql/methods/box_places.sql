-- What is published of each box along every quasi-identifier, and where it stands in the order of that.
-- in: columns [(alias, labels (g, label))], numbered: boxes are published with their numbers    out: g, aliases, place    grain: box
{% set first = columns[0][0] %}
select
    b_{{ first }}.g,
    {% for alias, labels in columns %}
    b_{{ alias }}.label as {{ alias }},
    {% endfor %}
    dense_rank() over (
        order by
            {% if numbered %}
            b_{{ first }}.g,
            {% endif %}
            {% for alias, labels in columns %}
            b_{{ alias }}.label{% if not loop.last %},{% endif %}

            {% endfor %}
    ) as place
from {{ columns[0][1] }} as b_{{ first }}
{% for alias, labels in columns[1:] %}
inner join {{ labels }} as b_{{ alias }}
    on b_{{ first }}.g = b_{{ alias }}.g
{% endfor %}
