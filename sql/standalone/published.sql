-- What is published: every quasi-identifier at its level, the other columns as they are, without the groups that fail.
-- The order is that of the published values, so it says nothing about the order of the source.
-- in: source, shown [(name, level, recipe)], condition, keys, sensitive, leave_out [(requirement, parameters)], group
-- out: the shown columns    grain: row
{% macro recoded() %}
select
    {% for name, level, recipe in shown %}
    {% if level %}
    {{ privacy_sql.recode(adapter.quote(name), recipe, level) }} as {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% else %}
    {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endif %}
    {% endfor %}
from {{ source }}
{% if condition is not none %}
where {{ condition }}
{% endif %}
{% endmacro %}
{% if leave_out %}
with recoded as (
    {{ recoded() }}
),
numbered as (
    select
        {% for name, _, _ in shown %}
        {{ adapter.quote(name) }},
        {% endfor %}
        dense_rank() over (order by {{ privacy_sql.apart(keys) }}) as {{ group }}
    from recoded
)
select
    {% for name, _, _ in shown %}
    {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endfor %}
from numbered
where {{ group }} not in (
    {% set relation %}recoded{% endset %}
    {{ privacy_sql.left_out(relation, keys, sensitive, leave_out) }}
)
{% else %}
{{ recoded() }}
{% endif %}
order by
    {% for name, _, _ in shown %}
    {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endfor %}
