-- The values of several columns as text and, where they are numbers, as numbers.
-- in: columns [(number of the column, dictionary (code, value))], value
-- out: k, code, exact, number    grain: column, value
{% for k, dictionary in columns %}
select
    cast({{ k }} as bigint) as k,
    code,
    cast(value as varchar) as exact,
    {{ privacy_sql.number(value) }} as number
from {{ dictionary }}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
