-- Some columns of a relation, unchanged.
-- in: relation, columns    out: the columns    grain: as relation
select {{ privacy_sql.columns(columns) }}
from {{ relation }}
