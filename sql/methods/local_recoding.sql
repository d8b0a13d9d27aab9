-- The published rows of a local recoding: every row under the labels of the round that publishes its combination.
-- The order is that of the published values, so it says nothing about the order of the source.
-- in: coded (q1.., s, others), plan (quasi, round, and s where there are values), quasi, values (code, value) or none,
--     shown [(name, column, labels)] labels none: as it is
-- out: the shown columns    grain: row
select
    {% for name, column, labels in shown %}
    {% if labels is none %}
    coded.{{ column }} as {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% else %}
    t_{{ column }}.label as {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endif %}
    {% endfor %}
from {{ coded }} as coded
{% if values is not none %}
left join {{ values }} as v
    on coded.s = v.value
{% endif %}
inner join {{ plan }} as plan
    on
    {% for column in quasi %}
    coded.{{ column }} = plan.{{ column }}
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
    {% if values is not none %}
    and plan.s = coalesce(v.code, cast(0 as bigint))
    {% endif %}
{% for name, column, labels in shown %}
{% if labels is not none %}
inner join {{ labels }} as t_{{ column }}
    on coded.{{ column }} = t_{{ column }}.code
    and plan.round = t_{{ column }}.round
{% endif %}
{% endfor %}
order by
    {% for name, column, labels in shown %}
    {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endfor %}
