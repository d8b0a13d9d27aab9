-- What a reader sees of a value: its text, compared byte by byte. The engine treats more as equal (0.0 and -0.0, 1 month
-- and 30 days, a collation's letters) and less (the number 1 and the text 1 in a VARIANT).
create or replace macro ps_shown(value) as decode(encode(cast(value as varchar)));
