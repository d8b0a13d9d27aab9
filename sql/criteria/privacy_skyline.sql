-- The groups that attain the least negated ratio of each sensitive value under each point of its skyline:
-- the factors T and V of every kind of group as logarithms, five minima per point, then the groups at them.
-- in: histogram (g, s, n_rows), groups (g, n_people), overall (s), points (skyline, point, ruled_out, known, family),
--     plan (s, skyline) or none, case_name, lengths [(values ruled out, [(place, weight)])],
--     shifts [(people known, name)], n_codes (more than any code of a value),
--     rounding (more than the logarithms can be wrong)
-- out: s, point, g, n_people, n_holders, place, n_rows (of the value at that place), own (1: it is the value in question)
-- grain: value, point, group, place
-- Logarithms of zero are -1e9. Integers decide in Python; here rounding may only keep a group too many.
{% set deepest = lengths | length %}
{% set shallow = case_name != "set" and deepest == 1 and lengths[0][0] == 1 %}
with
{% if shallow %}
-- the two largest counts of a group without sorting: the largest, ties broken by code, then the next
commonest as (
    select
        g,
        max(n_rows * {{ n_codes }} + s) as packed
    from {{ histogram }}
    group by g
),
tops as (
    select
        h.g,
        cast(sum(h.n_rows) as bigint) as n_people,
        max(h.n_rows) as low_1,
        max(h.n_rows)
        + coalesce(max(case when h.n_rows * {{ n_codes }} + h.s < c.packed then h.n_rows end), 0) as high_1
    from {{ histogram }} as h
    inner join commonest as c
        on h.g = c.g
    group by h.g
),
{% elif deepest %}
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
        row_number() over (partition by h.g order by h.n_rows desc) as place
    from {{ histogram }} as h
    {% if case_name == "set" %}
    inner join {{ groups }} as p
        on h.g = p.g
    {% endif %}
),
-- the sum of the most common values of a group, one with an extra value in case the value in question is among them
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
        {% if case_name == "one" %}
        cast(sum(n_rows) as bigint) as n_people,
        {% endif %}
        g
    from ranked
    group by g
),
{% endif %}
held as (
    select
        h.g,
        h.s,
        {% if deepest and case_name == "one" %}
        t.n_people,
        {% else %}
        p.n_people,
        {% endif %}
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
    {% if not deepest or case_name != "one" %}
    inner join {{ groups }} as p
        on h.g = p.g
    {% endif %}
    {% if deepest %}
    inner join tops as t
        on h.g = t.g
    {% endif %}
),
-- of groups with the same number of people and holders, the one that loses most to the ruled-out values is worst
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
{% set missing -%}
    cast('-1e9' as double)
{%- endset %}
-- the chance that a family has nobody with the value depends on two counts only, so it is computed once for
-- each: with nobody of that group known, with all known people in it, and with the target besides
steps as (
    {% for known, name in shifts %}
    select distinct
        {{ loop.index0 }} as step,
        a.known,
        a.family,
        {{ known }} as known_there
    from {{ points }} as a
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
crowds as (
    select distinct
        n_people,
        n_holders
    from kinds
),
counted as (
    select
        c.n_people,
        c.n_holders,
        t.step,
        t.known,
        t.family,
        {% if case_name == "multiset" %}
        c.n_people - t.known_there - t.family as n_spare,
        {% else %}
        c.n_people - c.n_holders - t.known_there - t.family + 1 as n_spare,
        {% endif %}
        cast(greatest(c.n_people - c.n_holders - t.known_there, 0) as double) as free,
        cast(greatest(c.n_people - c.n_holders - t.known_there - t.family, 0) as double) as free_left,
        cast(greatest(c.n_people - t.known_there, 0) as double) as people,
        cast(greatest(c.n_people - t.known_there - t.family, 0) as double) as people_left
    from crowds as c
    cross join steps as t
),
single as (
    select
        n_people,
        n_holders,
        step,
        known,
        family,
        case
            when family = 0 then cast('0' as double)
            when n_spare <= 0 then {{ missing }}
            {% if case_name == "multiset" %}
            else n_holders * ln(greatest(people_left, 1) / greatest(people, cast('1' as double)))
            {% else %}
            {% set free -%}
                free
            {%- endset -%}
            {%- set free_left -%}
                free_left
            {%- endset -%}
            {%- set people -%}
                people
            {%- endset -%}
            {%- set people_left -%}
                people_left
            {%- endset %}
            else
                {{ privacy_sql.log_factorial(free) }}
                - {{ privacy_sql.log_factorial(free_left) }}
                - {{ privacy_sql.log_factorial(people) }}
                + {{ privacy_sql.log_factorial(people_left) }}
            {% endif %}
        end as chance
    from counted
),
chances as (
    select
        {% for known, name in shifts %}
        max(case when step = {{ loop.index0 }} then chance end) as chance_{{ name }},
        {% endfor %}
        n_people,
        n_holders,
        known,
        family
    from single
    group by
        n_people,
        n_holders,
        known,
        family
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
odds as (
    select
        a.s,
        a.point,
        a.ruled_out,
        a.known,
        a.family,
        a.n_people,
        a.n_holders,
        a.n_free,
        a.taken,
        {% for known, name in shifts[:2] %}
        {% if case_name == "one" %}
        case
            when a.n_free - a.taken - {{ known }} <= 0 then {{ missing }}
            else ln(greatest(a.n_free - a.taken - {{ known }}, 1)) - ln(cast(a.n_holders as double))
        end as odds_{{ name }}{% if not loop.last %},{% endif %}

        {% elif case_name == "set" %}
        case
            when a.n_free <= {{ known }} or a.taken >= cast('1e8' as double) then {{ missing }}
            else ln(cast(greatest(a.n_free - {{ known }}, 1) as double)) - ln(cast(a.n_holders as double)) - a.taken
        end as odds_{{ name }}{% if not loop.last %},{% endif %}

        {% elif case_name == "multiset" %}
        {% set missed -%}
            a.n_holders * ln(
                cast(greatest(a.n_free - {{ known }}, 1) as double) / cast(greatest(a.n_people - {{ known }}, 2) as double)
            )
        {%- endset %}
        case
            when a.n_free <= {{ known }} then {{ missing }}
            else
                {{ missed }}
                - ln(1 - exp(greatest({{ missed }}, -700)))
                + a.taken * ln(cast(greatest(a.n_free, 1) as double) / cast(greatest(a.n_people, 2) as double))
        end as odds_{{ name }}{% if not loop.last %},{% endif %}

        {% else %}
        {{ privacy_sql.refuse("privacy_skyline", "values per person are one, set or multiset") }}
        {% endif %}
        {% endfor %}
    from laid as a
),
factors as (
    select
        o.s,
        o.point,
        o.ruled_out,
        o.family,
        o.n_people,
        o.n_holders,
        o.n_free,
        o.taken,
        o.odds_none,
        o.odds_known,
        c.chance_none,
        c.chance_known,
        -- certainty is the same however large the other factor is
        case
            when o.odds_known + c.chance_more <= cast('-1e8' as double) then {{ missing }}
            else o.odds_known + c.chance_more
        end as ratio
    from odds as o
    inner join chances as c
        on
            o.n_people = c.n_people
            and o.n_holders = c.n_holders
            and o.known = c.known
            and o.family = c.family
),
minima as (
    select
        s,
        point,
        min(ratio) as least_ratio,
        min(odds_none) as least_odds_none,
        min(odds_known) as least_odds_known,
        min(chance_none) as least_chance_none,
        min(chance_known) as least_chance_known
    from factors
    group by
        s,
        point
),
compared as (
    select
        f.s,
        f.point,
        f.ruled_out,
        f.n_people,
        f.n_holders,
        f.n_free,
        f.taken,
        f.family,
        f.ratio,
        f.odds_none - m.least_odds_none as over_odds_none,
        f.odds_known - m.least_odds_known as over_odds_known,
        f.chance_none - m.least_chance_none as over_chance_none,
        f.chance_known - m.least_chance_known as over_chance_known,
        m.least_odds_none + m.least_chance_known as family_known_elsewhere,
        m.least_odds_known + m.least_chance_none as family_elsewhere,
        m.least_ratio,
        greatest(
            least(
                m.least_ratio,
                m.least_odds_none + m.least_chance_known,
                m.least_odds_known + m.least_chance_none
            ),
            {{ missing }}
        ) + cast({{ rounding }} as double) as near
    from factors as f
    inner join minima as m
        on
            f.s = m.s
            and f.point = m.point
),
-- where nothing is certain, the kinds that attain a least term; without a family one group is enough
attained as (
    select
        s,
        point,
        ruled_out,
        n_people,
        n_holders,
        n_free,
        taken,
        case when least_ratio <= cast('-1e8' as double) then 1 else 0 end as certain
    from compared
    where
        ratio <= near
        or (
            family > 0
            and least_ratio > cast('-1e8' as double)
            and (
                (
                    family_known_elsewhere <= near
                    and least(over_odds_none, over_chance_known) <= cast({{ rounding }} as double)
                )
                or (
                    family_elsewhere <= near
                    and least(over_odds_known, over_chance_none) <= cast({{ rounding }} as double)
                )
            )
        )
),
-- all certain kinds are equal; the one with the fewest people to know about is enough
placed as (
    select
        s,
        point,
        ruled_out,
        n_people,
        n_holders,
        taken,
        certain,
        row_number() over (partition by s, point order by n_free, n_people, taken desc) as place
    from attained
),
kept as (
    select
        s,
        point,
        ruled_out,
        n_people,
        n_holders,
        taken
    from placed
    where
        certain = 0
        or place = 1
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
-- a question without an answer keeps its row, so that it cannot pass for safe
select
    a.s,
    a.point,
    w.g,
    w.n_people,
    w.n_holders,
    w.place,
    w.n_rows,
    w.own
from asked as a
left join shown as w
    on
        a.s = w.s
        and a.point = w.point
        and (w.place <= w.ruled_out + 1 or w.own = 1)
