-- A checksum of a table's rows that ignores their order: md5 of each row's text, summed in pieces of four hex
-- digits. NULL and empty text count as one, because CSV does not tell them apart.
-- in: relation, columns    out: n_rows, h1..h8    grain: one row
{{ privacy_sql.fingerprint(relation, columns) }}
