-- The published rows of a partition: what each box reaches along every quasi-identifier, the other columns as they are.
-- Boxes are put together and in order before the rows, so a row is joined and compared once, not for every column.
-- The order is that of the published values, so it says nothing about the order of the source.
-- in: rows (g, q1.., others), shown [(name, alias, labels (g, label) or none)], group_id
-- out: [group_id], the shown columns    grain: row
{% set labelled = shown | selectattr(2) | list %}
{% set first = labelled[0] %}
with boxes as (
    select
        b_{{ first[1] }}.g,
        {% for name, alias, labels in labelled %}
        b_{{ alias }}.label as {{ alias }},
        {% endfor %}
        dense_rank() over (
            order by
                {% if group_id is not none %}
                b_{{ first[1] }}.g{% if labelled %},{% endif %}

                {% endif %}
                {% for name, alias, labels in labelled %}
                b_{{ alias }}.label{% if not loop.last %},{% endif %}

                {% endfor %}
        ) as place
    from {{ first[2] }} as b_{{ first[1] }}
    {% for name, alias, labels in labelled[1:] %}
    inner join {{ labels }} as b_{{ alias }}
        on b_{{ first[1] }}.g = b_{{ alias }}.g
    {% endfor %}
)
select
    {% if group_id is not none %}
    rows.g as {{ adapter.quote(group_id) }},
    {% endif %}
    {% for name, alias, labels in shown %}
    {% if labels is none %}rows{% else %}boxes{% endif %}.{{ alias }} as {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ rows }} as rows
inner join boxes
    on rows.g = boxes.g
order by
    boxes.place{% for name, alias, labels in shown if labels is none %},
    {{ adapter.quote(name) }}{% endfor %}

