-- One box with everybody in it.
-- in: combinations (c)    out: c, box    grain: combination
select
    c,
    cast(0 as bigint) as box
from {{ combinations }}
