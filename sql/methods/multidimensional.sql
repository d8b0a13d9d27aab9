-- The published rows of a partition: what each box reaches along every quasi-identifier, the other columns as they are.
-- in: rows (g, q1.., others), shown [(name, alias, labels or none)], group_id    out: [group_id], the shown columns    grain: row
select
    {% if group_id is not none %}
    rows.g as {{ adapter.quote(group_id) }},
    {% endif %}
    {% for name, alias, labels in shown %}
    {% if labels is none %}
    rows.{{ alias }}
    {%- else %}
    b_{{ alias }}.label
    {%- endif %} as {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ rows }} as rows
{% for name, alias, labels in shown %}
{% if labels is not none %}
inner join {{ labels }} as b_{{ alias }}
    on rows.g = b_{{ alias }}.g
{% endif %}
{% endfor %}
order by
    {% if group_id is not none %}
    {{ adapter.quote(group_id) }},
    {% endif %}
    {% for name, alias, labels in shown %}
    {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endfor %}
