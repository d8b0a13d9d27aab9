-- People whose rows differ in these columns: they would be in several groups.
-- in: source, identifier, columns    out: n_people    grain: one row
with placed as (
    select
        {{ adapter.quote(identifier) }} as person
    from {{ source }}
    group by
        {{ adapter.quote(identifier) }}
        {% for name in columns %},
        {{ adapter.quote(name) }}
        {% endfor %}

),
repeated as (
    select person
    from placed
    group by person
    having count(*) > 1
)
select cast(count(*) as bigint) as n_people
from repeated
