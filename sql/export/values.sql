-- The sensitive values by the numbers that the histogram has for them.
-- in: keyed (value), value    out: code, value    grain: sensitive value
select
    dense_rank() over (order by {{ privacy_sql.apart(value) }}) as code,
    value
from {{ keyed }}
group by
    value,
    {{ privacy_sql.apart(value) }}
