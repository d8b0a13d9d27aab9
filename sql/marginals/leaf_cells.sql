-- The counted base with every column at every level: a search counts marginals from it.
-- in: base (q1.., s, n_rows), columns [(alias, column, level, codes)], joined [(column, codes)], sensitive
-- out: aliases (q1_0, q1_1, ...), s, n_rows    grain: as base
{{ privacy_sql.at_levels(base, columns, joined, sensitive) }}
