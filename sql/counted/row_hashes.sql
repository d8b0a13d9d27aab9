-- The md5 of each row's text: NULL and empty text count as one for a CSV file, which writes both the same way. In our own
-- relations equal texts look equal, so identical rows are hashed once.
-- in: relation, columns, empty_is_null, counted (the column that says how many rows a row represents) or none
-- out: n, h    grain: row, or identical rows
{{ privacy_sql.row_hashes(relation, columns, empty_is_null, alike=true, counted=counted) }}
