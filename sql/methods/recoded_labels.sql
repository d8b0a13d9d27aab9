-- What a raw value is shown as in each round of a recoding; equal texts share a number, whatever level they are from.
-- in: levels (code, l0..lH or value), shown [(round, label)]    out: code, round, label, id    grain: value, round
with shown as (
    {% for round, label in shown %}
    select
        code,
        cast({{ round }} as bigint) as round,
        cast({{ label }} as varchar) as label
    from {{ levels }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
)
select
    code,
    round,
    label,
    cast(dense_rank() over (order by label) as bigint) as id
from shown
