-- What is published: every quasi-identifier at its level, the other columns unchanged, without the groups that fail.
-- The order is that of the published texts, so it says nothing about the order of the source.
-- in: source, shown [(name, level, recipe)], condition, keys, sensitive, leave_out [(requirement, parameters)], group
-- out: the shown columns    grain: row
{% set names = shown | map(attribute=0) | list %}
with recoded as (
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
)
{% if leave_out %},
numbered as (
    select
        {{ privacy_sql.columns(names) }},
        dense_rank() over (order by {{ privacy_sql.apart(keys) }}) as {{ group }}
    from recoded
)
select {{ privacy_sql.columns(names) }}
from numbered
where {{ group }} not in (
    {% set relation %}recoded{% endset %}
    {{ privacy_sql.left_out(relation, keys, sensitive, leave_out) }}
)
{% else %}
select {{ privacy_sql.columns(names) }}
from recoded
{% endif %}
order by {{ privacy_sql.apart(names) }}
