-- The published labels of each group, and its place in their order.
-- in: members (g, k1..), keys [(alias, column, level, levels (code, l1..lH), dictionary (code, value))]
-- out: g, the columns, place    grain: group
with found as (
    select distinct
        {% for alias, column, level, levels, dictionary in keys %}
        {{ alias }},
        {% endfor %}
        g
    from {{ members }}
)
select
    found.g,
    {% for alias, column, level, levels, dictionary in keys %}
    {% if level %}
    l_{{ column }}.l{{ level }} as {{ column }},
    {% else %}
    l_{{ column }}.value as {{ column }},
    {% endif %}
    {% endfor %}
    dense_rank() over (
        order by
            {% for alias, column, level, levels, dictionary in keys %}
            {% if level %}
            l_{{ column }}.l{{ level }}
            {%- else %}
            found.{{ alias }}
            {%- endif %}{% if not loop.last %},{% endif %}

            {% endfor %}
    ) as place
from found
{% for alias, column, level, levels, dictionary in keys %}
inner join {% if level %}{{ levels }}{% else %}{{ dictionary }}{% endif %} as l_{{ column }}
    on found.{{ alias }} = l_{{ column }}.code
{% endfor %}
