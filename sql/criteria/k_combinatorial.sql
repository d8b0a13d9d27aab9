-- The largest count a nonsensitive cell can have in any table that agrees with the marginals, where it is least.
-- in: cliques in the order of their junction tree, those with the sensitive attribute first; k
-- out: bound, n_below (cells or bounds under k), g, g2.. (the cells that meet), marginal (where only one is met)
-- grain: one row (the join) and one per marginal without the sensitive attribute; per cell by_group
{% set joined = cliques | selectattr("sensitive") | list %}
{% set others = cliques | rejectattr("sensitive") | list %}
with
{% if joined %}
met as (
    select
        {% for clique in joined %}
        m{{ loop.index }}.g as g{{ loop.index }},
        {% endfor %}
        {% if joined | length == 1 %}
        m1.n_rows
        {% else %}
        least({% for clique in joined %}m{{ loop.index }}.n_rows{% if not loop.last %}, {% endif %}{% endfor %}) as n_rows
        {% endif %}
    {{ privacy_sql.join_cliques(joined, false) }}
),
bounded as (
    select
        {% for clique in joined %}
        g{{ loop.index }},
        {% endfor %}
        cast(sum(n_rows) as bigint) as bound
    from met
    group by
        {% for clique in joined %}
        g{{ loop.index }}{% if not loop.last %},{% endif %}

        {% endfor %}
),
{% endif %}
found as (
    {% if joined %}
    select
        cast({{ joined[0].number }} as bigint) as marginal,
        bound,
        {% for clique in joined %}
        g{{ loop.index }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from bounded
    {% endif %}
    {% for clique in others %}
    {% if joined or not loop.first %}
    union all
    {% endif %}
    select
        cast({{ clique.number }} as bigint) as marginal,
        n_people as bound,
        {% if joined %}
        {% for other in joined %}
        g as g{{ loop.index }}{% if not loop.last %},{% endif %}

        {% endfor %}
        {% else %}
        g as g1
        {% endif %}
    from {{ clique.cells }}
    {% endfor %}
),
placed as (
    select
        marginal,
        bound,
        {% for clique in (joined or others[:1]) %}
        g{{ loop.index }},
        {% endfor %}
        cast(sum(case when bound < {{ k }} then 1 else 0 end) over (partition by marginal) as bigint) as n_below,
        row_number() over (
            partition by marginal
            order by
                bound,
                {% for clique in (joined or others[:1]) %}
                g{{ loop.index }}{% if not loop.last %},{% endif %}

                {% endfor %}
        ) as place
    from found
)
select
    marginal,
    bound,
    n_below,
    {% for clique in (joined or others[:1]) %}
    g{{ loop.index }}{% if loop.first %} as g{% endif %}{% if not loop.last %},{% endif %}

    {% endfor %}
from placed
{% if not by_group %}
where place = 1
{% endif %}
