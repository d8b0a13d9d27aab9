-- Columns of a source as small numbers, row by row; a missing value is 0.
-- in: source, columns [(name, alias)]    out: the aliases, n_rows    grain: row
with
{% for name, alias in columns %}
d_{{ alias }} as (
    select
        row_number() over (order by {{ adapter.quote(name) }}) as code,
        {{ adapter.quote(name) }} as value
    from {{ source }}
    where {{ adapter.quote(name) }} is not null
    group by {{ adapter.quote(name) }}
){% if not loop.last %},{% endif %}

{% endfor %}
select
    {% for name, alias in columns %}
    cast(coalesce(d_{{ alias }}.code, 0) as bigint) as {{ alias }},
    {% endfor %}
    cast(1 as bigint) as n_rows
from {{ source }} as found
{% for name, alias in columns %}
left join d_{{ alias }}
    on found.{{ adapter.quote(name) }} = d_{{ alias }}.value
{% endfor %}
