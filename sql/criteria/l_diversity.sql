-- How varied the sensitive values of the groups are.
-- in: histogram (g, s, n_rows), groups (g, n_people), kind, ell (where the tail begins), low and high (nats as text)
-- out: what the kind measures (entropy: the counts of the group most at risk and of every group between low and
--      high), n_groups, g (one such group)    grain: kind of group (and group, by_group)
{% if kind == "distinct" %}
with shown as (
    select
        g,
        cast(1 as bigint) as one
    from {{ histogram }}
    union all
    -- people without any value leave no row in the histogram
    select
        g,
        cast(0 as bigint) as one
    from {{ groups }}
),
measured as (
    select
        g,
        cast(sum(one) as bigint) as n_values
    from shown
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
-- most groups have too few values for a tail, so only the others are put in order
with deep as (
    select
        g,
        max(n_rows) as n_top
    from {{ histogram }}
    group by g
    having count(*) >= {{ ell }}
),
placed as (
    select
        h.g,
        h.n_rows,
        d.n_top,
        row_number() over (partition by h.g order by h.n_rows desc) as place
    from {{ histogram }} as h
    inner join deep as d
        on h.g = d.g
),
measured as (
    select
        g,
        max(n_top) as n_top,
        cast(sum(case when place >= {{ ell }} then n_rows else 0 end) as bigint) as n_tail
    from placed
    group by g
    union all
    select
        g,
        max(n_rows) as n_top,
        cast(0 as bigint) as n_tail
    from {{ histogram }}
    group by g
    having count(*) < {{ ell }}
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
{% elif kind == "entropy" %}
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
extreme as (
    select
        min(entropy) as least,
        cast(
            sum(case when entropy < cast({{ privacy_sql.literal(low) }} as double) then 1 else 0 end) as bigint
        ) as n_below
    from measured
),
wanted as (
    {% if by_group %}
    select g
    from measured
    where entropy <= cast({{ privacy_sql.literal(high) }} as double)
    {% else %}
    select min(m.g) as g
    from measured as m
    cross join extreme as e
    where m.entropy <= e.least
    union
    select
        -- the diversity of uniform groups is their number of values: one of each kind is enough
        min(g) as g
    from measured
    where
        entropy between cast({{ privacy_sql.literal(low) }} as double)
        and cast({{ privacy_sql.literal(high) }} as double)
    group by case when uniform = 1 then -n_values else g end
    {% endif %}
)
select
    h.n_rows,
    e.n_below,
    h.g
from wanted as w
inner join {{ histogram }} as h
    on w.g = h.g
cross join extreme as e
{% else %}
{{ privacy_sql.refuse("l_diversity", "kind is distinct, probabilistic, entropy or recursive") }}
{% endif %}
