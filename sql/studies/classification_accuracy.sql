-- The published rows as numbers to learn from; equal rows with equal classes are counted.
-- in: published, features, target    out: f1.., class, n_rows    grain: published combination with its class
with coded as (
    select
        {% for name in features %}
        dense_rank() over (order by {{ adapter.quote(name) }}) as f{{ loop.index }},
        {% endfor %}
        dense_rank() over (order by {{ adapter.quote(target) }}) as class
    from {{ published }}
)
select
    {% for name in features %}
    cast(f{{ loop.index }} as bigint) as f{{ loop.index }},
    {% endfor %}
    cast(class as bigint) as class,
    cast(count(*) as bigint) as n_rows
from coded
group by
    {% for name in features %}
    f{{ loop.index }},
    {% endfor %}
    class
