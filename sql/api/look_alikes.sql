-- How many values there are, and how many when case, outer blanks and full-width letters are ignored.
-- in: values (code, value)    out: n_values, n_folded    grain: one row
select
    cast(count(*) as bigint) as n_values,
    cast(count(distinct lower(trim(translate(
        cast(value as varchar),
        {{ privacy_sql.literal(wide) }},
        {{ privacy_sql.literal(narrow) }}
    )))) as bigint) as n_folded
from {{ values }}
where code <> 0
