-- The boxes that print the same labels, under the number of the first of them.
-- in: labels [relations (g, label)]    out: g, lowest    grain: box
select
    b1.g,
    min(b1.g) over (
        partition by
            {% for _ in labels %}
            b{{ loop.index }}.label{% if not loop.last %},{% endif %}

            {% endfor %}
    ) as lowest
from {{ labels[0] }} as b1
{% for relation in labels[1:] %}
inner join {{ relation }} as b{{ loop.index + 1 }}
    on b1.g = b{{ loop.index + 1 }}.g
{% endfor %}
