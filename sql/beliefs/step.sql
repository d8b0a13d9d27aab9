-- One attribute of the kernel product: the target values that its source values resemble replace them.
-- Li et al. 2009, eq. (2). Only target values that occur together with those reached before are kept.
-- in: state (fixed.., column, rest.., s, w), goals (fixed.., column), weights (target, source, w)
-- out: fixed.., column (now a target value), rest.., s, w    grain: those columns
select
    {% for name in fixed %}
    goal.{{ name }},
    {% endfor %}
    goal.{{ column }},
    {% for name in rest %}
    state.{{ name }},
    {% endfor %}
    state.s,
    cast(sum(state.w * weights.w) as double) as w
from {{ goals }} as goal
inner join {{ weights }} as weights
    on goal.{{ column }} = weights.target
inner join {{ state }} as state
    on state.{{ column }} = weights.source
    {% for name in fixed %}
    and state.{{ name }} = goal.{{ name }}
    {% endfor %}
group by
    {% for name in fixed %}
    goal.{{ name }},
    {% endfor %}
    goal.{{ column }},
    {% for name in rest %}
    state.{{ name }},
    {% endfor %}
    state.s
