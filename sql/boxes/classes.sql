-- How often each class occurs in each part: what an information gain is computed from.
-- in: parts (g, told, measure), told, measure    out: g, class, n_rows    grain: part, class
select
    g,
    {{ told }} as class,
    {{ measure }} as n_rows
from {{ parts }}
where {{ told }} is not null
