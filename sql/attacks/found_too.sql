-- Where people are located, with those who were located afterwards.
-- in: located and more (columns), columns    out: columns    grain: as theirs
select {{ privacy_sql.columns(columns) }}
from {{ located }}
union all
select {{ privacy_sql.columns(columns) }}
from {{ more }}
