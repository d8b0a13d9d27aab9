-- A finished partition, with boxes that publish the same labels merged.
-- in: final (c, g), alike (g, lowest)    out: c, g    grain: combination, and box
select distinct
    final.c,
    alike.lowest as g
from {{ final }} as final
inner join {{ alike }} as alike
    on final.g = alike.g
