-- The labels of one column in all published marginals that show it, numbered.
-- in: published relations, column    out: label, code    grain: label
with found as (
    {% for relation in relations %}
    select distinct cast({{ adapter.quote(column) }} as varchar) as label
    from {{ relation }}
    {% if not loop.last %}
    union
    {% endif %}
    {% endfor %}
)
select
    label,
    cast(dense_rank() over (order by label) as bigint) as code
from found
where label is not null
