-- The labels of a column by number.
-- in: labels (id, label)    out: code, value, n_rows (of the table of labels)    grain: label
select
    id as code,
    min(label) as value,
    cast(count(*) as bigint) as n_rows
from {{ labels }}
group by id
