-- How many people of each kind are in each group: with the prior beliefs, this gives the adversary's posterior ones.
-- in: candidate (g, q1.., n_rows), combinations (c, q1..)    out: g, c, n_people    grain: group, combination
select
    candidate.g,
    kinds.c,
    cast(sum(candidate.n_rows) as bigint) as n_people
from {{ candidate }} as candidate
inner join {{ combinations }} as kinds
    on 1 = 1
    {% for column in columns %}
    and candidate.{{ column }} = kinds.{{ column }}
    {% endfor %}
group by
    candidate.g,
    kinds.c
