-- The labels of one level of a hierarchy that values of the table have.
-- in: levels (l0..lH), level    out: label    grain: label
select distinct l{{ level }} as label
from {{ levels }}
where l{{ level }} is not null
