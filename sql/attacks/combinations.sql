-- The people under attack, one row per combination of their known values.
-- in: base (q1.., n_rows), columns    out: person (a number), q1.., n_people    grain: combination
with known as (
    select
        {{ privacy_sql.columns(columns) }},
        cast(sum(n_rows) as bigint) as n_people
    from {{ base }}
    group by {{ privacy_sql.columns(columns) }}
)
select
    cast(row_number() over (order by {{ privacy_sql.columns(columns) }}) as bigint) as person,
    {{ privacy_sql.columns(columns) }},
    n_people
from known
