-- The log-likelihood of the source under what a reader reconstructs, and under itself: sums of rows * ln(rows).
-- in: histogram (k1.., s, n_rows) of what is published, base (n_rows), leaves [(alias, relation (code, n_leaves))],
--     everywhere (suppressed rows per raw combination, as text)    out: n_shown, shown, source    grain: one row
with spread as (
    select
        histogram.n_rows,
        cast(histogram.n_rows as double)
        {% for alias, relation in leaves %}
        / cast(l_{{ alias }}.n_leaves as double)
        {% endfor %}
        + cast({{ privacy_sql.literal(everywhere) }} as double) as expected
    from {{ histogram }} as histogram
    {% for alias, relation in leaves %}
    inner join {{ relation }} as l_{{ alias }}
        on histogram.{{ alias }} = l_{{ alias }}.code
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
