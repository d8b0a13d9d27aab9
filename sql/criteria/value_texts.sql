-- Every sensitive value as text, whatever its type, and its code: a number is what its text says.
-- in: values (code, value)    out: code, value    grain: sensitive value
select
    code,
    cast(value as varchar) as value
from {{ values }}
