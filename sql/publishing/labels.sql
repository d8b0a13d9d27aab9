-- Published labels that are none of the level they are published at, column by column; the rows are read once.
-- in: published, columns [(name, alias)], known (position, label)    out: the aliases    grain: one row
with shown as (
    select distinct
        {% for name, alias in columns %}
        cast({{ adapter.quote(name) }} as varchar) as {{ alias }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from {{ published }}
)
select
    {% for name, alias in columns %}
    cast(
        coalesce(sum(case when shown.{{ alias }} is not null and k_{{ alias }}.label is null then 1 else 0 end), 0) as bigint
    ) as {{ alias }}{% if not loop.last %},{% endif %}

    {% endfor %}
from shown
{% for name, alias in columns %}
left join {{ known }} as k_{{ alias }}
    on
        shown.{{ alias }} = k_{{ alias }}.label
        and k_{{ alias }}.position = {{ loop.index }}
{% endfor %}
