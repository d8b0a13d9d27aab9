-- Size, rows, NULLs and highest code of each part of the counted source.
-- in: counted (part, code, n_rows)    out: part, n_values, n_rows, n_nulls, top    grain: part
select
    part,
    cast(count(*) as bigint) as n_values,
    cast(sum(n_rows) as bigint) as n_rows,
    cast(sum(case when code = 0 then n_rows else 0 end) as bigint) as n_nulls,
    max(code) as top
from {{ counted }}
group by part
