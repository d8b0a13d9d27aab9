-- A checksum of a table's rows that ignores their order: md5 of each row's text, summed in pieces of four hex
-- digits. NULL and empty text count as one for a CSV file, which writes both the same way. In our own relations equal
-- texts look equal, so identical rows are hashed once.
-- in: relation, columns, empty_is_null, counted (the column that says how many rows a row represents) or none
-- out: n_rows, h1..h8    grain: one row
{{ privacy_sql.fingerprint(relation, columns, empty_is_null, alike=true, counted=counted) }}
