-- The belief about each kind of person in each group after the release, exactly, for all groups at once.
-- Li et al. 2009, Sec. III.C: the prior belief in s, times how likely the remaining values are for the others, those
-- before the person and those after. The factor n_i of eq. (3) is left out: assignments are distinct.
-- in: choices (g, d, j, c, last, s, stride, p), layers (relations of g, d, layer, code, w), groups (g, k, total)
-- out: g, c, s, p    grain: group, combination, sensitive value
with reached as (
    {% for layer in layers %}
    select
        g,
        d,
        layer,
        code,
        w
    from {{ layer }}
    union all
    {% endfor %}
    select
        groups.g,
        ends.d,
        cast(0 as bigint) as layer,
        cast(0 as bigint) as code,
        cast('1' as double) as w
    from {{ groups }} as groups
    cross join (select distinct d from {{ choices }}) as ends
),
met as (
    select
        person.g,
        person.c,
        person.s,
        cast(sum(person.p * before.w * after.w) as double) as w
    from {{ choices }} as person
    inner join {{ groups }} as groups
        on person.g = groups.g
    inner join reached as before
        on person.g = before.g
        and person.j - 1 = before.layer
    inner join reached as after
        on before.g = after.g
        and groups.k - person.j = after.layer
        and groups.total - before.code - person.stride = after.code
    where person.d = 0
        and person.last = 1
        and before.d = 0
        and after.d = 1
    group by
        person.g,
        person.c,
        person.s
)
select
    g,
    c,
    s,
    w / cast(sum(w) over (partition by g, c) as double) as p
from met
