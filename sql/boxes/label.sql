-- What is published of each box along one quasi-identifier.
-- in: labels (g, label_q1..), column    out: g, label    grain: box
select
    g,
    label_{{ column }} as label
from {{ labels }}
