-- How many boxes publish the same labels as another one.
-- in: labels (g, columns), columns    out: n_alike    grain: one row
select cast(coalesce(sum(n_boxes - 1), 0) as bigint) as n_alike
from (
    select count(*) as n_boxes
    from {{ labels }}
    group by {{ privacy_sql.columns(columns) }}
) as printed
