-- How similar two names are, ignoring case: 1 when they are the same, above 0.2 when one may be the other misspelt.
create or replace macro ps_alike(one, other) as
    jaro_winkler_similarity(lower(cast(one as varchar)), lower(cast(other as varchar)))
    - damerau_levenshtein(lower(cast(one as varchar)), lower(cast(other as varchar)))
    / greatest(length(cast(one as varchar)), length(cast(other as varchar)));
