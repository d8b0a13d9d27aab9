-- The prior belief P(s | c): weights turned into shares. A combination that nobody resembles has no rows.
-- in: state (columns.., s, w), combinations (c, columns..)    out: c, s, p    grain: combination, sensitive value
select
    k.c,
    state.s,
    state.w / cast(sum(state.w) over (partition by k.c) as double) as p
from {{ state }} as state
inner join {{ combinations }} as k
    on 1 = 1
    {% for name in columns %}
    and state.{{ name }} = k.{{ name }}
    {% endfor %}
{% if block is not none %}
where k.c between {{ block[0] }} and {{ block[1] }}
{% endif %}
