-- The groups that attain the least negated ratio of each sensitive value under each point of its skyline:
-- the factors T and V of every kind of group as logarithms, five minima per point, then the groups at them.
-- in: histogram (g, s, n_rows), groups (g, n_people), overall (s), points (skyline, point, ruled_out, known, family),
--     plan (s, skyline) or none, case_name, lengths [(values ruled out, [(place, weight)])], shifts [(people known, name)]
-- out: s, point, g, n_people, n_holders, place, n_rows (of the value at that place), own (1: it is the value asked about)
-- grain: value, point, group, place (one row of nulls for a point nobody asks)
-- Logarithms of zero are -1e9. Integers decide in Python; here rounding may only keep a group too many.
{% set deepest = lengths | length %}
with
{% if deepest %}
ranked as (
    select
        h.g,
        h.n_rows,
        {% if case_name == "set" %}
        case
            when h.n_rows >= p.n_people then cast('1e9' as double)
            else -ln(1 - cast(h.n_rows as double) / cast(p.n_people as double))
        end as lost,
        {% else %}
        h.n_rows as lost,
        {% endif %}
        row_number() over (partition by h.g order by h.n_rows desc, h.s) as place
    from {{ histogram }} as h
    {% if case_name == "set" %}
    inner join {{ groups }} as p
        on h.g = p.g
    {% endif %}
),
-- the commonest values of a group together, one with more in case the value asked about is among them
tops as (
    select
        {% for length, weights in lengths %}
        cast(sum(case when place <= {{ length }} then lost else 0 end) as {% if case_name == "set" %}double{% else %}bigint{% endif %}) as low_{{ length }},
        cast(sum(case when place <= {{ length + 1 }} then lost else 0 end) as {% if case_name == "set" %}double{% else %}bigint{% endif %}) as high_{{ length }},
        {% if case_name == "set" %}
        cast(
            sum(
                n_rows * case place
                    {% for place, weight in weights %}
                    when {{ place }} then cast({{ weight }} as bigint)
                    {% endfor %}
                    else 0
                end
            ) as bigint
        ) as shape_{{ length }},
        {% endif %}
        {% endfor %}
        g
    from ranked
    group by g
),
{% endif %}
held as (
    select
        h.g,
        h.s,
        p.n_people,
        {% for length, weights in lengths %}
        {% if case_name == "set" %}
        t.shape_{{ length }},
        least(
            t.low_{{ length }},
            t.high_{{ length }} - case
                when h.n_rows >= p.n_people then 0
                else -ln(1 - cast(h.n_rows as double) / cast(p.n_people as double))
            end
        ) as taken_{{ length }},
        {% else %}
        least(t.low_{{ length }}, t.high_{{ length }} - h.n_rows) as taken_{{ length }},
        {% endif %}
        {% endfor %}
        h.n_rows as n_holders
    from {{ histogram }} as h
    inner join {{ groups }} as p
        on h.g = p.g
    {% if deepest %}
    inner join tops as t
        on h.g = t.g
    {% endif %}
),
-- of groups with as many people and holders the one that loses most to the values ruled out is worst
kinds as (
    select
        s,
        n_people,
        {% for length, weights in lengths %}
        max(taken_{{ length }}) as taken_{{ length }},
        {% endfor %}
        n_holders
    from held
    group by
        s,
        n_people,
        n_holders
),
asked as (
    select
        o.s,
        p.point,
        p.ruled_out,
        p.known,
        p.family
    from {{ overall }} as o
    {% if plan is not none %}
    left join {{ plan }} as n
        on o.s = n.s
    {% endif %}
    inner join {{ points }} as p
        on p.skyline = {% if plan is none %}0{% else %}coalesce(n.skyline, 0){% endif %}
),
laid as (
    select
        k.s,
        a.point,
        a.ruled_out,
        a.known,
        a.family,
        k.n_people,
        k.n_holders,
        {% if case_name == "multiset" %}
        k.n_people - 1 as n_free,
        {% else %}
        k.n_people - k.n_holders as n_free,
        {% endif %}
        case a.ruled_out
            when 0 then cast('0' as double)
            {% for length, weights in lengths %}
            when {{ length }} then cast(k.taken_{{ length }} as double)
            {% endfor %}
        end as taken
    from kinds as k
    inner join asked as a
        on k.s = a.s
),
factors as (
    select
        s,
        point,
        ruled_out,
        family,
        n_people,
        n_holders,
        n_free,
        taken,
        {% for known, name in shifts %}
        {% if case_name == "one" %}
        case
            when n_free - taken - {{ known }} <= 0 then cast('-1e9' as double)
            else ln(greatest(n_free - taken - {{ known }}, 1)) - ln(cast(n_holders as double))
        end as odds_{{ name }},
        {% elif case_name == "set" %}
        case
            when n_free <= {{ known }} or taken >= cast('1e8' as double) then cast('-1e9' as double)
            else ln(cast(greatest(n_free - {{ known }}, 1) as double)) - ln(cast(n_holders as double)) - taken
        end as odds_{{ name }},
        {% else %}
        case
            when n_free <= {{ known }} then cast('-1e9' as double)
            else
                n_holders * ln(cast(greatest(n_free - {{ known }}, 1) as double) / cast(greatest(n_people - {{ known }}, 2) as double))
                - ln(
                    1 - exp(
                        greatest(
                            n_holders * ln(cast(greatest(n_free - {{ known }}, 1) as double) / cast(greatest(n_people - {{ known }}, 2) as double)),
                            -700
                        )
                    )
                )
                + taken * ln(cast(greatest(n_free, 1) as double) / cast(greatest(n_people, 2) as double))
        end as odds_{{ name }},
        {% endif %}
        case
            when family = 0 then cast('0' as double)
            {% if case_name == "multiset" %}
            when n_people <= {{ known }} + family then cast('-1e9' as double)
            else
                n_holders * ln(
                    cast(greatest(n_people - {{ known }} - family, 1) as double)
                    / cast(greatest(n_people - {{ known }}, 1) as double)
                )
            {% else %}
            when n_free < {{ known }} + family then cast('-1e9' as double)
            else
                {% set free -%}
                    greatest(n_free - {{ known }}, 0)
                {%- endset -%}
                {%- set free_left -%}
                    greatest(n_free - {{ known }} - family, 0)
                {%- endset -%}
                {%- set people -%}
                    greatest(n_people - {{ known }}, 0)
                {%- endset -%}
                {%- set people_left -%}
                    greatest(n_people - {{ known }} - family, 0)
                {%- endset -%}
                {{ privacy_sql.log_factorial(free) }}
                - {{ privacy_sql.log_factorial(free_left) }}
                - {{ privacy_sql.log_factorial(people) }}
                + {{ privacy_sql.log_factorial(people_left) }}
            {% endif %}
        end as chance_{{ name }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from laid
),
minima as (
    select
        s,
        point,
        ruled_out,
        family,
        n_people,
        n_holders,
        n_free,
        taken,
        odds_none,
        odds_known,
        chance_none,
        chance_known,
        greatest(odds_known + chance_more, cast('-1e9' as double)) as ratio,
        min(greatest(odds_known + chance_more, cast('-1e9' as double))) over (partition by s, point) as least_ratio,
        min(odds_none) over (partition by s, point) as least_odds_none,
        min(odds_known) over (partition by s, point) as least_odds_known,
        min(chance_none) over (partition by s, point) as least_chance_none,
        min(chance_known) over (partition by s, point) as least_chance_known,
        row_number() over (
            partition by s, point
            order by greatest(odds_known + chance_more, cast('-1e9' as double)), n_free, n_people
        ) as place
    from factors
),
compared as (
    select
        s,
        point,
        ruled_out,
        family,
        n_people,
        n_holders,
        taken,
        odds_none,
        odds_known,
        chance_none,
        chance_known,
        ratio,
        least_ratio,
        least_odds_none,
        least_odds_known,
        least_chance_none,
        least_chance_known,
        place,
        least(least_ratio, least_odds_none + least_chance_known, least_odds_known + least_chance_none)
        + cast('1e-5' as double) as near
    from minima
),
-- near certainty all are alike and one is enough; without a family no second group matters
kept as (
    select
        s,
        point,
        ruled_out,
        n_people,
        n_holders,
        taken
    from compared
    where
        place = 1
        or (
            least_ratio > cast('-1e8' as double)
            and (
                ratio <= near
                or (
                    family > 0
                    and least_odds_none + least_chance_known <= near
                    and (odds_none <= least_odds_none + cast('1e-5' as double) or chance_known <= least_chance_known + cast('1e-5' as double))
                )
                or (
                    family > 0
                    and least_odds_known + least_chance_none <= near
                    and (odds_known <= least_odds_known + cast('1e-5' as double) or chance_none <= least_chance_none + cast('1e-5' as double))
                )
            )
        )
),
examples as (
    select
        k.s,
        k.point,
        k.ruled_out,
        k.n_people,
        k.n_holders,
        min(h.g) as g
    from kept as k
    inner join held as h
        on
            k.s = h.s
            and k.n_people = h.n_people
            and k.n_holders = h.n_holders
    where
        case k.ruled_out
            when 0 then cast('0' as double)
            {% for length, weights in lengths %}
            when {{ length }} then cast(h.taken_{{ length }} as double)
            {% endfor %}
        end >= k.taken - cast('1e-8' as double)
    group by
        k.s,
        k.point,
        k.ruled_out,
        k.n_people,
        k.n_holders
        {% if case_name == "set" %}
        {% for length, weights in lengths %},
        h.shape_{{ length }}
        {% endfor %}
        {% endif %}
),
shown as (
    select
        e.s,
        e.point,
        e.ruled_out,
        e.g,
        e.n_people,
        e.n_holders,
        h.n_rows,
        case when h.s = e.s then 1 else 0 end as own,
        row_number() over (
            partition by e.s, e.point, e.g
            order by h.n_rows desc, h.s
        ) as place
    from examples as e
    inner join {{ histogram }} as h
        on e.g = h.g
)
select
    s,
    point,
    g,
    n_people,
    n_holders,
    place,
    n_rows,
    own
from shown
where
    place <= ruled_out + 1
    or own = 1
