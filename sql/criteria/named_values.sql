-- The code of each named sensitive value.
-- in: values (code, value), named (position, name)    out: position, code    grain: named value
select
    named.position,
    v.code
from {{ values }} as v
inner join {{ named }} as named
    on cast(v.value as varchar) = named.name
