-- How many rows have a value outside its column's public domain.
-- in: base (q1.., s, n_rows), columns [(alias, places (code, place))]    out: n_rows    grain: one row
select cast(coalesce(sum(b.n_rows), 0) as bigint) as n_rows
from {{ base }} as b
{% for alias, places in columns %}
inner join {{ places }} as p{{ loop.index }}
    on b.{{ alias }} = p{{ loop.index }}.code
{% endfor %}
where
    {% for alias, places in columns %}
    p{{ loop.index }}.place is null
    {% if not loop.last %}
    or
    {% endif %}
    {% endfor %}
