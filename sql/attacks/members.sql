-- The groups of a release and the labels of each; a bucketized group has one line per combination in it.
-- in: candidate (g, q1..), columns    out: g, q1..    grain: group, combination of labels
select distinct
    g,
    {{ privacy_sql.columns(columns) }}
from {{ candidate }}
