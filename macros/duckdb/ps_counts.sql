-- How often each value occurs among rows, as a list of counts. NULL is a value, different from an empty text; other values count as a reader sees them.
create or replace macro ps_counts(value) as
    map_values(histogram(coalesce(encode('=' || cast(value as varchar)), encode('null'))));
