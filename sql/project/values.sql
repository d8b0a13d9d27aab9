-- The values of one column, for the file of a hierarchy that a person fills in.
-- in: source, column, most    out: value    grain: value, at most so many
select distinct cast({{ adapter.quote(column) }} as varchar) as value
from {{ source }}
where {{ adapter.quote(column) }} is not null
order by value
limit {{ most }}
