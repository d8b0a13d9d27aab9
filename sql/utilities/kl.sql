-- The log-likelihood of the source under what a reader reconstructs, and under itself: sums of rows * ln(rows).
-- in: histogram (g, k1.., s where sensitive, n_rows) of what is published, base (n_rows), everywhere (suppressed rows
--     per raw combination, as text), leaves [(alias, relation (code, n_leaves))]
-- out: n_shown, shown, source    grain: one row
with alike as (
    select
        {% for alias, _ in leaves %}
        {{ alias }},
        {% endfor %}
        {% if sensitive %}
        s,
        {% endif %}
        g,
        cast(sum(n_rows) as bigint) as n_rows
    from {{ histogram }}
    group by
        {% for alias, _ in leaves %}
        {{ alias }},
        {% endfor %}
        {% if sensitive %}
        s,
        {% endif %}
        g
),
spread as (
    select
        alike.n_rows,
        cast(alike.n_rows as double)
        {% for alias, relation in leaves %}
        / cast(l_{{ alias }}.n_leaves as double)
        {% endfor %}
        + cast({{ privacy_sql.literal(everywhere) }} as double) as expected
    from alike
    {% for alias, relation in leaves %}
    inner join {{ relation }} as l_{{ alias }}
        on alike.{{ alias }} = l_{{ alias }}.code
    {% endfor %}
),
reader as (
    select
        cast(coalesce(sum(n_rows), 0) as bigint) as n_shown,
        cast(coalesce(sum(cast(n_rows as double) * ln(expected)), 0) as double) as shown
    from spread
),
truth as (
    select
        cast(sum(n_rows) as bigint) as n_source,
        cast(sum(cast(n_rows as double) * ln(cast(n_rows as double))) as double) as source
    from {{ base }}
)
select
    reader.n_shown,
    reader.shown,
    truth.n_source,
    truth.source
from reader
cross join truth
