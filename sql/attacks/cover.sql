-- Which labels of a release cover which values of the people, column by column, and how well: 0 exactly, 1 as the same
-- number written differently, 2 as `*`, which is for values that no other label covers, 3 where nobody can know.
-- Somebody with a missing value may be where it is empty, and the reverse: both are possible where the people's values
-- do not distinguish the two.
-- in: readable (k, code, exact, spelt, number), rules (privacy_sql/history/labels.py), hierarchies [(k, levels (code, l0..lH) of
--     the people's values, how well they cover, [(level, its labels (code, value))], all labels (code, value), whether a
--     value it lacks may be any)]
-- out: k, value, label (both codes), tier    grain: column, value, label
with covered as (
    select
        v.k,
        v.code as value,
        r.label,
        r.tier
    from {{ readable }} as v
    inner join {{ rules }} as r
        on v.k = r.k and v.exact = r.exact
    union all
    -- a date or a truth value that had another type when it was published
    select
        v.k,
        v.code as value,
        r.label,
        cast(1 as bigint) as tier
    from {{ readable }} as v
    inner join {{ rules }} as r
        on v.k = r.k and v.spelt = r.spelt
    union all
    select
        v.k,
        v.code as value,
        r.label,
        cast(1 as bigint) as tier
    from {{ readable }} as v
    inner join {{ rules }} as r
        on v.k = r.k and v.spelt >= r.first_spelt and v.spelt <= r.last_spelt
    union all
    select
        v.k,
        v.code as value,
        r.label,
        r.tier
    from {{ readable }} as v
    inner join {{ rules }} as r
        on v.k = r.k and v.number >= r.low and v.number <= r.high
    where
        (r.low_open = 0 or v.number > r.low)
        and (r.high_open = 0 or v.number < r.high)
    union all
    -- a value that is not a number may be in any range of a release that is not ours
    select
        v.k,
        v.code as value,
        r.label,
        cast(3 as bigint) as tier
    from {{ readable }} as v
    inner join {{ rules }} as r
        on v.k = r.k
    where
        r.guessed = 1
        and v.number is null
        and v.exact is not null
    union all
    select
        v.k,
        v.code as value,
        r.label,
        r.tier
    from {{ readable }} as v
    inner join {{ rules }} as r
        on v.k = r.k and substring(v.exact, 1, length(r.prefix)) = r.prefix
    where r.width is null or length(v.exact) = r.width
    union all
    select
        v.k,
        v.code as value,
        r.label,
        r.tier
    from {{ readable }} as v
    inner join {{ rules }} as r
        on v.k = r.k
    where
        r.everything = 1
        or (r.known = 1 and v.exact is not null)
        or (r.nothing = 1 and v.exact is null)
    union all
    -- a CSV file shows an empty text like a missing value, so one may be the other
    select
        v.k,
        v.code as value,
        r.label,
        cast(1 as bigint) as tier
    from {{ readable }} as v
    inner join {{ rules }} as r
        on v.k = r.k
    where
        (r.nothing = 1 and v.exact = '')
        or ((r.exact = '' or r.first_word = '') and v.exact is null)
    union all
    select
        v.k,
        v.code as value,
        r.label,
        r.tier
    from {{ readable }} as v
    inner join {{ rules }} as r
        on v.k = r.k and v.exact >= r.first_word and v.exact <= r.last_word
{% for k, levels, tier, shown, labels, stranger in hierarchies %}
{% for level, of_level in shown %}
    union all
    select
        cast({{ k }} as bigint) as k,
        t.code as value,
        d.code as label,
        cast({{ tier }} as bigint) as tier
    from {{ levels }} as t
    inner join {{ of_level }} as d
        on cast(t.l{{ level }} as varchar) = coalesce(cast(d.value as varchar), '')
{% endfor %}
{% if stranger %}
    union all
    select
        cast({{ k }} as bigint) as k,
        t.code as value,
        d.code as label,
        cast(3 as bigint) as tier
    from {{ levels }} as t
    cross join {{ labels }} as d
    where
        t.l1 is null
        and t.l0 is not null
        and d.value is not null
{% endif %}
{% endfor %}
),
best as (
    select
        k,
        value,
        label,
        min(tier) as tier
    from covered
    group by
        k,
        value,
        label
),
-- missing values, or empty texts, of columns that hold only one of the two
untold as (
    select
        k,
        min(code) as value
    from {{ readable }}
    where coalesce(exact, '') = ''
    group by k
    having count(*) = 1
)
select
    b.k,
    b.value,
    b.label,
    case
        when
            u.value is not null
            and max(case when b.tier = 1 then 1 else 0 end) over (partition by b.k, b.value) = 1
            then greatest(b.tier, cast(1 as bigint))
        else b.tier
    end as tier
from best as b
left join untold as u
    on b.k = u.k and b.value = u.value
