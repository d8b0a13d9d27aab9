-- Published values that are no label of the level they are published at.
-- in: published, column, labels (label)    out: n_values    grain: one row
with shown as (
    select distinct cast({{ adapter.quote(column) }} as varchar) as label
    from {{ published }}
)
select cast(count(*) as bigint) as n_values
from shown
left join {{ labels }} as known
    on shown.label = known.label
where
    shown.label is not null
    and known.label is null
