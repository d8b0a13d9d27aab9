-- A wide numeric column: for every target's number x the weighted sum over people, by running sums in whole numbers.
-- Li et al. 2009, eq. (1): Σ n·(1 - ((v - x)/h)²) = S0 - (x²·S0 - 2x·S1 + S2)/h² over x - h < v < x + h, where S0,
-- S1, S2 sum n, n·v, n·v² and h² = top/bottom. NULL is at distance 1 from every number (weight `far`), 0 from itself.
-- in: base (others.., column, s, n_rows), numbers (code, x), goals (same.., column; same are some of the others),
--     reach (h rounded up), top, bottom, far
-- out: others.., column (now a target value), s, w    grain: those columns
with counted as (
    select
        {% for name in others %}
        base.{{ name }},
        {% endfor %}
        base.s,
        numbers.x,
        cast(sum(base.n_rows) as bigint) as n
    from {{ base }} as base
    left join {{ numbers }} as numbers
        on base.{{ column }} = numbers.code
    group by
        {% for name in others %}
        base.{{ name }},
        {% endfor %}
        base.s,
        numbers.x
),
totals as (
    select
        {% for name in others %}
        {{ name }},
        {% endfor %}
        s,
        cast(sum(case when x is null then n else 0 end) as double) as n_missing,
        cast(sum(case when x is null then 0 else n end) as double) as n_known
    from counted
    group by
        {% for name in others %}
        {{ name }},
        {% endfor %}
        s
),
asked as (
    select
        goals.{{ column }},
        numbers.x,
        {% for name in others %}
        totals.{{ name }},
        {% endfor %}
        totals.s,
        totals.n_missing,
        totals.n_known
    from {{ goals }} as goals
    left join {{ numbers }} as numbers
        on goals.{{ column }} = numbers.code
    inner join totals
        on 1 = 1
        {% for name in same %}
        and goals.{{ name }} = totals.{{ name }}
        {% endfor %}
),
-- people at their number, targets where their reach begins (marker -1) and where it ends (marker 1)
line as (
    select
        {% for name in others %}
        {{ name }},
        {% endfor %}
        s,
        x as position,
        0 as marker,
        cast(null as bigint) as target,
        cast(n as decimal(38, 0)) as n_0,
        cast(n as decimal(38, 0)) * x as n_1,
        cast(n as decimal(38, 0)) * x * x as n_2
    from counted
    where x is not null
    {% for marker in [-1, 1] %}
    union all
    select
        {% for name in others %}
        {{ name }},
        {% endfor %}
        s,
        {% if marker == 1 %}
        x + {{ reach }} - 1 as position,
        {% else %}
        x - {{ reach }} as position,
        {% endif %}
        {{ marker }} as marker,
        {{ column }} as target,
        cast(0 as decimal(38, 0)) as n_0,
        cast(0 as decimal(38, 0)) as n_1,
        cast(0 as decimal(38, 0)) as n_2
    from asked
    where x is not null
    {% endfor %}
),
running as (
    select
        {% for name in others %}
        {{ name }},
        {% endfor %}
        s,
        marker,
        target,
        {% for power in range(3) %}
        cast(
            sum(n_{{ power }}) over (
                partition by
                    {% for name in others %}
                    {{ name }},
                    {% endfor %}
                    s
                order by
                    position,
                    {# people at the end of a reach are in it, those where it begins are not #}
                    case when marker = 0 then 0 else 1 end,
                    marker,
                    target
                rows between unbounded preceding and current row
            ) as decimal(38, 0)
        ) as sum_{{ power }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from line
),
within_reach as (
    select
        {% for name in others %}
        {{ name }},
        {% endfor %}
        s,
        target,
        {% for power in range(3) %}
        cast(sum(marker * sum_{{ power }}) as decimal(38, 0)) as sum_{{ power }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from running
    where marker <> 0
    group by
        {% for name in others %}
        {{ name }},
        {% endfor %}
        s,
        target
),
weighed as (
    select
        {% for name in others %}
        asked.{{ name }},
        {% endfor %}
        asked.{{ column }},
        asked.s,
        case
            when asked.x is null then asked.n_missing + cast({{ far }} as double) * asked.n_known
            else cast({{ far }} as double) * asked.n_missing
                + cast(
                    reached.sum_0 * cast({{ top }} as decimal(38, 0))
                    - (
                        cast(asked.x as decimal(38, 0)) * asked.x * reached.sum_0
                        - 2 * cast(asked.x as decimal(38, 0)) * reached.sum_1
                        + reached.sum_2
                    ) * cast({{ bottom }} as decimal(38, 0)) as double
                ) / cast({{ top }} as double)
        end as w
    from asked
    left join within_reach as reached
        on asked.{{ column }} = reached.target
        and asked.s = reached.s
        {% for name in others %}
        and asked.{{ name }} = reached.{{ name }}
        {% endfor %}
)
select
    {% for name in others %}
    {{ name }},
    {% endfor %}
    {{ column }},
    s,
    w
from weighed
where w > 0
