-- What is published: every quasi-identifier at its level, the other columns as they are.
-- in: source, shown [(name, level, recipe)], condition    out: the shown columns    grain: row
select
    {% for name, level, recipe in shown %}
    {% if level %}
    {{ privacy_sql.recode(adapter.quote(name), recipe, level) }} as {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% else %}
    {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endif %}
    {% endfor %}
from {{ adapter.quote(source) }}
{% if condition is not none %}
where {{ condition }}
{% endif %}
