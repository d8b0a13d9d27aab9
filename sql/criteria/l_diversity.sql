-- How varied the sensitive values of the groups are.
-- in: histogram (g, s, n_rows), groups (g, n_people), kind, ell (where the tail begins), low and high (nats as text)
-- out: what the kind measures (entropy: the counts of the group most at risk and of every group between low and
--      high), n_groups, g (one such group)    grain: kind of group (and group, by_group)
{% if kind == "distinct" %}
with measured as (
    select
        g,
        cast(count(*) as bigint) as n_values
    from {{ histogram }}
    group by g
)
select
    n_values,
    cast(count(*) as bigint) as n_groups,
    min(g) as g
from measured
group by
    n_values
    {% if by_group %},
    g
    {% endif %}
{% elif kind == "probabilistic" %}
with measured as (
    select
        g,
        max(n_rows) as n_top
    from {{ histogram }}
    group by g
)
select
    p.n_people,
    m.n_top,
    cast(count(*) as bigint) as n_groups,
    min(m.g) as g
from measured as m
inner join {{ groups }} as p
    on m.g = p.g
group by
    p.n_people,
    m.n_top
    {% if by_group %},
    m.g
    {% endif %}
{% elif kind == "recursive" %}
with placed as (
    select
        g,
        n_rows,
        row_number() over (partition by g order by n_rows desc, s) as place
    from {{ histogram }}
),
measured as (
    select
        g,
        max(n_rows) as n_top,
        cast(sum(case when place >= {{ ell }} then n_rows else 0 end) as bigint) as n_tail
    from placed
    group by g
)
select
    n_top,
    n_tail,
    cast(count(*) as bigint) as n_groups,
    min(g) as g
from measured
group by
    n_top,
    n_tail
    {% if by_group %},
    g
    {% endif %}
{% else %}
with weighed as (
    select
        g,
        cast(count(*) as bigint) as n_values,
        cast(sum(n_rows) as double) as n_people,
        case when min(n_rows) = max(n_rows) then 1 else 0 end as uniform,
        cast(sum(cast(n_rows as double) * ln(cast(n_rows as double))) as double) as weight
    from {{ histogram }}
    group by g
),
measured as (
    select
        g,
        n_values,
        uniform,
        ln(n_people) - weight / cast(n_people as double) as entropy
    from weighed
),
placed as (
    select
        g,
        uniform,
        entropy,
        row_number() over (order by entropy, g) as place,
        -- uniform groups are as varied as they have values: one of each kind is enough
        row_number() over (partition by uniform, n_values order by entropy, g) as place_of_kind
    from measured
),
below as (
    select
        cast(
            sum(case when entropy < cast({{ privacy_sql.literal(low) }} as double) then 1 else 0 end) as bigint
        ) as n_below
    from measured
)
select
    h.n_rows,
    b.n_below,
    h.g
from placed as p
inner join {{ histogram }} as h
    on p.g = h.g
cross join below as b
where
    p.entropy <= cast({{ privacy_sql.literal(high) }} as double)
    {% if not by_group %}
    and p.entropy >= cast({{ privacy_sql.literal(low) }} as double)
    and (p.uniform = 0 or p.place_of_kind = 1)
    or p.place = 1
    {% endif %}
{% endif %}
