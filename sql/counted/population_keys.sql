-- The code of a published key for each value of the population: that of the same label.
-- in: theirs, ours: (code, value) at level 0, else (code, l1..lH); codes (code, c1..cH) of ours, level
-- out: code (of the population), k (of the table)    grain: value
select distinct
    p.code,
    {% if level == 0 %}
    b.code as k
    {% else %}
    c.c{{ level }} as k
    {% endif %}
from {{ theirs }} as p
{% if level == 0 %}
inner join {{ ours }} as b
    on
    cast(p.value as varchar) = cast(b.value as varchar)
    or (p.value is null and b.value is null)
{% else %}
inner join {{ ours }} as b
    on
    p.l{{ level }} = b.l{{ level }}
    or (p.l{{ level }} is null and b.l{{ level }} is null)
inner join {{ codes }} as c
    on b.code = c.code
{% endif %}
