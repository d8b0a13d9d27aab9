-- The boxes that publish the same labels, with the number of the first of them.
-- in: labels (g, columns), columns    out: g, lowest    grain: box
select
    g,
    min(g) over ({% if columns %}partition by {{ privacy_sql.columns(columns) }}{% endif %}) as lowest
from {{ labels }}
