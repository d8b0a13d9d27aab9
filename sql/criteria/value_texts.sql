-- Every sensitive value as its text, whatever type it has, and its code: a number is the one its text says.
-- in: values (code, value)    out: code, value    grain: sensitive value
select
    code,
    cast(value as varchar) as value
from {{ values }}
