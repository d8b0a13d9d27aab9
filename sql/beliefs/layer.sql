-- How likely each vector of values is for the first j people of a group, from either end, for all groups at once.
-- Li et al. 2009, Sec. III.C, over count vectors instead of assignments. Divided by the largest of its group, so
-- that long products survive.
-- in: choices (g, d, j, s, stride, n_rows, p), state (g, d, code, w; none for the first layer), layer (this j)
-- out: g, d, layer, code, w    grain: group, end, vector of `layer` values
with handed as (
    select
        choices.g,
        choices.d,
        {% if state %}
        state.code + choices.stride as code,
        cast(sum(state.w * choices.p) as double) as w
        {% else %}
        choices.stride as code,
        choices.p as w
        {% endif %}
    from {{ choices }} as choices
    {% if state %}
    inner join {{ state }} as state
        on choices.g = state.g
        and choices.d = state.d
    {% endif %}
    where choices.j = {{ layer }}
    {% if state %}
        -- while not all people with this value are placed
        and floor(state.code / cast(choices.stride as double))
            - floor(state.code / cast(choices.stride * (choices.n_rows + 1) as double)) * (choices.n_rows + 1)
            < choices.n_rows
    group by
        choices.g,
        choices.d,
        state.code + choices.stride
    {% endif %}
)
select
    g,
    d,
    cast({{ layer }} as bigint) as layer,
    code,
    w / cast(max(w) over (partition by g, d) as double) as w
from handed
