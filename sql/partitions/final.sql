-- The boxes of the whole partition, numbered.
-- in: placed (c, box)    out: c, box, g    grain: combination
select
    c,
    box,
    cast(dense_rank() over (order by box) as bigint) as g
from {{ placed }}
