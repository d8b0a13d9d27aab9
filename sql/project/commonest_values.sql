-- The most common values of a column, for a private file of the person who runs the project.
-- in: dictionary (code, value, n_rows), most    out: value    grain: value
with ordered as (
    select
        cast(value as varchar) as value,
        row_number() over (order by n_rows desc, value) as place
    from {{ dictionary }}
    where value is not null
)
select value
from ordered
where place <= {{ most }}
