-- A checksum of a table's rows that ignores their order: md5 of each row's text, summed in pieces of four hex
-- digits. NULL and empty text count as one where a CSV file is compared, which does not tell them apart. Relations of
-- ours hold text whose equal values look equal, so rows alike are hashed once.
-- in: relation, columns, empty_is_null, counted (the column that says how many rows a row stands for) or none
-- out: n_rows, h1..h8    grain: one row
{{ privacy_sql.fingerprint(relation, columns, empty_is_null, alike=true, counted=counted) }}
