-- How far each box reaches along one column, without NULL: its least and largest number, value and node at each level.
-- in: members (g, column), readable (code, exact, number), codes (code, c0..) or none, height
-- out: g, with_null, with_empty, n_words, lo, hi, lo_code, hi_code, lo_1, hi_1..    grain: group
select
    m.g,
    max(case when r.exact is null then 1 else 0 end) as with_null,
    max(case when r.exact = '' then 1 else 0 end) as with_empty,
    cast(sum(case when r.exact is not null and r.number is null then 1 else 0 end) as bigint) as n_words,
    min(r.number) as lo,
    max(r.number) as hi,
    min(case when r.exact is not null then m.{{ column }} end) as lo_code,
    max(case when r.exact is not null then m.{{ column }} end) as hi_code
    {% for level in range(1, height) %},
    min(case when r.exact is not null then c.c{{ level }} end) as lo_{{ level }},
    max(case when r.exact is not null then c.c{{ level }} end) as hi_{{ level }}
    {% endfor %}

from {{ members }} as m
inner join {{ readable }} as r
    on m.{{ column }} = r.code
{% if codes is not none %}
inner join {{ codes }} as c
    on m.{{ column }} = c.code
{% endif %}
group by m.g
