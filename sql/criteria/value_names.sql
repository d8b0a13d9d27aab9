-- Every sensitive value and its code: internal, only when a person asks to see values.
-- in: values (code, value)    out: code, value    grain: sensitive value
select
    code,
    value
from {{ values }}
