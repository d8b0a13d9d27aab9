-- What is published of each box for every quasi-identifier, and its place in the order of these labels.
-- in: labels (g, label_q1..), columns (q1..), numbered: boxes are published with their numbers
-- out: g, columns, place    grain: box
select
    g,
    {% for column in columns %}
    label_{{ column }} as {{ column }},
    {% endfor %}
    dense_rank() over (
        order by
            {% if numbered %}
            g,
            {% endif %}
            {% for column in columns %}
            label_{{ column }}{% if not loop.last %},{% endif %}

            {% endfor %}
    ) as place
from {{ labels }}
