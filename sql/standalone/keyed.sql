-- Every row with its keys at their levels.
-- in: source, keys [(alias, name, level, recipe)], sensitive, condition    out: k1.., value    grain: row
select
    {% for alias, name, level, recipe in keys %}
    {% if level %}
    {{ privacy_sql.recode(adapter.quote(name), recipe, level) }} as {{ alias }}{% if sensitive is not none or not loop.last %},{% endif %}

    {% else %}
    {{ adapter.quote(name) }} as {{ alias }}{% if sensitive is not none or not loop.last %},{% endif %}

    {% endif %}
    {% endfor %}
    {% if sensitive is not none %}
    {{ adapter.quote(sensitive) }} as value
    {% endif %}
from {{ source }}
{% if condition is not none %}
where {{ condition }}
{% endif %}
