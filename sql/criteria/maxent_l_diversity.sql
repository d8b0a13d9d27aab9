-- The expected counts, in the maximum-entropy table, of the groups that are least diverse.
-- in: cliques in the order of their junction tree, those with the sensitive attribute first; kind, ell, share, whole_share, near
-- out: g, g2.. (the cells that meet), n1.. and d2.. (counts whose product over quotient is expected), n_groups
-- grain: group among the worst (within 1e-12 of it, a thousand at most; every group by_group) and sensitive value;
-- of kind relaxed, a group with fewest values near the likeliest, and those that may have fewer
{% set joined = cliques | selectattr("sensitive") | list %}
with met as (
    select
        {% for clique in joined %}
        m{{ loop.index }}.g as g{{ loop.index }},
        m{{ loop.index }}.n_rows as n{{ loop.index }},
        {% endfor %}
        {% for clique in joined[1:] %}
        d{{ loop.index + 1 }}.n_rows as d{{ loop.index + 1 }},
        {% endfor %}
        m1.s,
        cast(m1.n_rows as double)
        {% for clique in joined[1:] %}
        * (cast(m{{ loop.index + 1 }}.n_rows as double) / cast(d{{ loop.index + 1 }}.n_rows as double))
        {% endfor %}
        as expected
    {{ privacy_sql.join_cliques(joined, true) }}
),
placed as (
    select
        {% for clique in joined %}
        g{{ loop.index }},
        {% endfor %}
        expected,
        {% if kind == "relaxed" %}
        max(expected) over (
            partition by
                {% for clique in joined %}
                g{{ loop.index }}{% if not loop.last %},{% endif %}

                {% endfor %}
        )
        {% if joined | length == 1 and whole_share %}
        * {{ whole_share[0] }}
        {% else %}
        {% for _ in joined %}
        * cast({{ share }} as double)
        {% endfor %}
        {% endif %}
        as least,
        {% endif %}
        row_number() over (
            partition by
                {% for clique in joined %}
                g{{ loop.index }}{% if not loop.last %},{% endif %}

                {% endfor %}
            order by expected desc, s
        ) as place
    from met
),
summed as (
    select
        {% for clique in joined %}
        g{{ loop.index }},
        {% endfor %}
        max(expected) as head,
        cast(sum(case when place >= {{ ell }} then expected else cast('0' as double) end) as double) as tail,
        cast(sum(expected) as double) as total,
        {% if kind == "relaxed" %}
        {% if joined | length == 1 and whole_share %}
        -- whole numbers on both sides, so that ties are exact
        cast(sum(case when expected * {{ whole_share[1] }} >= least then 1 else 0 end) as double) as n_sure,
        cast(sum(case when expected * {{ whole_share[1] }} >= least then 1 else 0 end) as double) as n_near,
        {% else %}
        cast(sum(case when expected > least * (1 + cast({{ near }} as double)) then 1 else 0 end) as double) as n_sure,
        cast(sum(case when expected >= least * (1 - cast({{ near }} as double)) then 1 else 0 end) as double) as n_near,
        {% endif %}
        {% endif %}
        cast(sum(expected * ln(expected)) as double) as weight,
        cast(count(*) as double) as n_values
    from placed
    group by
        {% for clique in joined %}
        g{{ loop.index }}{% if not loop.last %},{% endif %}

        {% endfor %}
),
measured as (
    -- the larger, the less diverse
    select
        {% for clique in joined %}
        g{{ loop.index }},
        {% endfor %}
        {% if kind == "recursive" %}
        case when tail > 0 then head / cast(tail as double) else cast('1e300' as double) end as risk
        {% elif kind == "distinct" %}
        -n_values as risk
        {% elif kind == "relaxed" %}
        -- the likeliest value is always one of them
        -greatest(n_sure, 1) as risk,
        -n_near as least_risk
        {% elif kind == "entropy" %}
        weight / cast(total as double) - ln(total) as risk
        {% else %}
        {{ privacy_sql.refuse("maxent_l_diversity", "kind is distinct, entropy, recursive or relaxed") }}
        {% endif %}
    from summed
),
ranked as (
    select
        {% for clique in joined %}
        g{{ loop.index }},
        {% endfor %}
        risk,
        {% if kind == "relaxed" %}
        max(least_risk) over () as worst,
        row_number() over (
            order by
                least_risk desc,
                {% for clique in joined %}
                g{{ loop.index }}{% if not loop.last %},{% endif %}

                {% endfor %}
        ) as place_of_least,
        {% else %}
        max(risk) over () as worst,
        {% endif %}
        cast(count(*) over () as bigint) as n_groups,
        row_number() over (
            order by
                risk desc,
                {% for clique in joined %}
                g{{ loop.index }}{% if not loop.last %},{% endif %}

                {% endfor %}
        ) as place
    from measured
)
select
    {% for clique in joined %}
    r.g{{ loop.index }}{% if loop.first %} as g{% endif %},
    met.n{{ loop.index }},
    {% endfor %}
    {% for clique in joined[1:] %}
    met.d{{ loop.index + 1 }},
    {% endfor %}
    r.n_groups
from ranked as r
inner join met
    on
    {% for clique in joined %}
    r.g{{ loop.index }} = met.g{{ loop.index }}
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
{% if not by_group %}
where
    {% if kind == "relaxed" %}
    r.place_of_least = 1
    or (r.place <= {{ most }} and r.risk > r.worst)
    {% else %}
    r.place <= {{ most }}
    and r.risk >= r.worst - abs(r.worst) * cast('1e-12' as double) - cast('1e-12' as double)
    {% endif %}
{% endif %}
