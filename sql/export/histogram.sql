-- How often each sensitive value occurs in each group; groups and values are numbered, NULL like any other value.
-- in: keyed (k1.., value), keys, value, sensitive    out: g, s, n_rows    grain: group, sensitive value
select
    {% if keys %}
    dense_rank() over (order by {{ privacy_sql.apart(keys) }}) as g,
    {% else %}
    cast(1 as bigint) as g,
    {% endif %}
    {% if sensitive %}
    dense_rank() over (order by {{ privacy_sql.apart(value) }}) as s,
    {% endif %}
    cast(count(*) as bigint) as n_rows
from {{ keyed }}
{% if keys or sensitive %}
group by
    {{ privacy_sql.apart(keys) }}
    {% if sensitive %}
    {% if keys %},{% endif %}
    {{ privacy_sql.apart(value) }}
    {% endif %}
{% endif %}
