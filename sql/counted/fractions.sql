-- Numbers with a fraction among the values of a column.
-- in: dictionary (value)    out: n_values    grain: one row
select cast(count(*) as bigint) as n_values
from {{ dictionary }} as d
where {{ privacy_sql.number(value) }} > floor({{ privacy_sql.number(value) }})
