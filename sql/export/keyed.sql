-- Every row with its keys at their levels, all as the text that a reader sees.
-- in: source, keys [(alias, name, level, recipe)], sensitive, condition    out: k1.., value    grain: row
select
    {% for alias, name, level, recipe in keys %}
    {% if level %}
    {{ privacy_sql.recode(adapter.quote(name), recipe, level) }} as {{ alias }}{% if sensitive is not none or not loop.last %},{% endif %}

    {% else %}
    cast({{ adapter.quote(name) }} as varchar) as {{ alias }}{% if sensitive is not none or not loop.last %},{% endif %}

    {% endif %}
    {% endfor %}
    {% if sensitive is not none %}
    cast({{ adapter.quote(sensitive) }} as varchar) as value
    {% endif %}
from {{ source }}
{% if condition is not none %}
where {{ condition }}
{% endif %}
