-- True counts of a dense grid of cells, empty cells included. Never published, never kept.
-- in: base, columns [(alias, places (code, place), domain (place, label), size)]    out: n_rows    grain: cell, in order
with counted as (
    select
        {% for alias, places, domain, size in columns %}
        p{{ loop.index }}.place as c{{ loop.index }},
        {% endfor %}
        cast(sum(b.n_rows) as bigint) as n_rows
    from {{ base }} as b
    {% for alias, places, domain, size in columns %}
    inner join {{ places }} as p{{ loop.index }}
        on b.{{ alias }} = p{{ loop.index }}.code
    {% endfor %}
    group by
        {% for alias, places, domain, size in columns %}
        p{{ loop.index }}.place{% if not loop.last %},{% endif %}

        {% endfor %}
),
grid as (
    select
        {% for alias, places, domain, size in columns %}
        d{{ loop.index }}.place as c{{ loop.index }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from
    {% for alias, places, domain, size in columns %}
    {% if not loop.first %}
    cross join
    {% endif %}
    {{ domain }} as d{{ loop.index }}
    {% endfor %}
)
select coalesce(counted.n_rows, cast(0 as bigint)) as n_rows
from grid
left join counted
    on
    {% for alias, places, domain, size in columns %}
    grid.c{{ loop.index }} = counted.c{{ loop.index }}
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
order by
    {% for alias, places, domain, size in columns %}
    grid.c{{ loop.index }}{% if not loop.last %},{% endif %}

    {% endfor %}
