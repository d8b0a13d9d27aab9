-- The maximum-entropy table of published marginals: the expected count of every combination that they show together.
-- in: parts [(relation, parent, shared names)] in the order of a junction tree, shown [(name, part)], count, total
-- out: the published columns, expected (rows)    grain: combination with positive expected count
select
    {% for name, part in shown %}
    m{{ part }}.{{ adapter.quote(name) }},
    {% endfor %}
    cast(m1.{{ adapter.quote(count) }} as double)
    {% for relation, parent, shared in parts[1:] %}
    * (
        cast(m{{ loop.index + 1 }}.{{ adapter.quote(count) }} as double)
        / cast(s{{ loop.index + 1 }}.n_rows as double)
    )
    {% endfor %}
    as expected
from {{ parts[0][0] }} as m1
{% for relation, parent, shared in parts[1:] %}
{% set here = loop.index + 1 %}
{% if shared %}
inner join {{ relation }} as m{{ here }}
    on
    {% for name in shared %}
    coalesce(cast(m{{ parent }}.{{ adapter.quote(name) }} as varchar), '')
    = coalesce(cast(m{{ here }}.{{ adapter.quote(name) }} as varchar), '')
    and case when m{{ parent }}.{{ adapter.quote(name) }} is null then 1 else 0 end
    = case when m{{ here }}.{{ adapter.quote(name) }} is null then 1 else 0 end
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
{% else %}
cross join {{ relation }} as m{{ here }}
{% endif %}
inner join (
    select
        {% for name in shared %}
        {{ adapter.quote(name) }},
        {% endfor %}
        cast(sum(cast({{ adapter.quote(count) }} as bigint)) as bigint) as n_rows
    from {{ relation }}
    {% if shared %}
    group by {{ privacy_sql.columns(shared) }}
    {% endif %}
) as s{{ here }}
    on
    {% for name in shared %}
    coalesce(cast(m{{ here }}.{{ adapter.quote(name) }} as varchar), '')
    = coalesce(cast(s{{ here }}.{{ adapter.quote(name) }} as varchar), '')
    and case when m{{ here }}.{{ adapter.quote(name) }} is null then 1 else 0 end
    = case when s{{ here }}.{{ adapter.quote(name) }} is null then 1 else 0 end
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
    {% if not shared %}
    s{{ here }}.n_rows > 0
    {% endif %}
{% endfor %}
