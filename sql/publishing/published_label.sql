-- The label behind a code of a published column.
-- in: labels (label, code), code    out: label    grain: at most one row
select label
from {{ labels }}
where code = {{ code }}
