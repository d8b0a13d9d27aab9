-- How often each class occurs in each part: what an information gain is computed from.
-- in: trial (c, box, g), base (c, class, n_rows)    out: box, g, class, n_rows    grain: part, class
select
    trial.box,
    trial.g,
    base.{{ class_column }} as class,
    cast(sum(base.n_rows) as bigint) as n_rows
from {{ trial }} as trial
inner join {{ base }} as base
    on trial.c = base.c
group by
    trial.box,
    trial.g,
    base.{{ class_column }}
