-- How often each value occurs among rows, as a list of counts; NULL is a value, apart from an empty text, and others are those that a reader sees.
create or replace macro ps_counts(value) as
    map_values(histogram(coalesce(encode('=' || cast(value as varchar)), encode('null'))));
