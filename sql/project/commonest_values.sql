-- The commonest values of a column, for a private file of the person who runs the project.
-- in: dictionary (code, value, n_rows), most    out: value    grain: value
select cast(value as varchar) as value
from {{ dictionary }}
where value is not null
order by n_rows desc, value
limit {{ most }}
