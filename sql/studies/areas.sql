-- How many people live in the area of each three-digit ZIP code, by the user's list.
-- in: listed (zip3, people), people (its column)    out: zip3, people (the fewest, where it says several)    grain: zip3
select
    lpad(trim(cast(zip3 as varchar)), 3, '0') as zip3,
    min(coalesce({{ privacy_sql.number(people) }}, cast(0 as double))) as people
from {{ listed }}
group by lpad(trim(cast(zip3 as varchar)), 3, '0')
