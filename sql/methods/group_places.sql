-- Where each group stands when groups are in the order of what is published of them.
-- in: members (g, k1..), keys [(alias, column, level, levels (code, l1..))]    out: g, place    grain: group
with found as (
    select distinct
        {% for alias, column, level, levels in keys %}
        {{ alias }},
        {% endfor %}
        g
    from {{ members }}
)
select
    found.g,
    dense_rank() over (
        order by
            {% for alias, column, level, levels in keys %}
            {% if level %}
            l_{{ column }}.l{{ level }}
            {%- else %}
            found.{{ alias }}
            {%- endif %}{% if not loop.last %},{% endif %}

            {% endfor %}
    ) as place
from found
{% for alias, column, level, levels in keys %}
{% if level %}
inner join {{ levels }} as l_{{ column }}
    on found.{{ alias }} = l_{{ column }}.code
{% endif %}
{% endfor %}
