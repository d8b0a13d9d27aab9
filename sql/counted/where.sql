-- The rows of the source that a condition of the project file keeps.
-- in: source, condition (checked by query.condition), columns    out: the columns    grain: row
select {{ privacy_sql.columns(columns) }}
from {{ source }}
where {{ condition }}
