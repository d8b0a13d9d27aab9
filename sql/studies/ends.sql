-- The least and the greatest whole number of each of some columns; a relation, so that no statement has them in its text.
-- in: source, columns [(name, alias)]    out: low_ and high_ of each alias    grain: one row
select
    {% for name, alias in columns %}
    min({{ adapter.quote(name) }}) as low_{{ alias }},
    max({{ adapter.quote(name) }}) as high_{{ alias }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ source }}
