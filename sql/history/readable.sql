-- The values of several columns as text and, where they are numbers, as numbers. A date at midnight and a truth value
-- are spelt in one way, whatever the type of their column.
-- in: columns [(number of the column, dictionary (code, value))], value
-- out: k, code, exact, spelt, number    grain: column, value
{% for k, dictionary in columns %}
select
    cast({{ k }} as bigint) as k,
    code,
    cast(value as varchar) as exact,
    case
        when
            length(cast(value as varchar)) = 19
            and substring(cast(value as varchar), 11, 9) in (' 00:00:00', 'T00:00:00')
            then substring(cast(value as varchar), 1, 10)
        when lower(cast(value as varchar)) in ('true', 'false') then lower(cast(value as varchar))
        else cast(value as varchar)
    end as spelt,
    {{ privacy_sql.number(value) }} as number
from {{ dictionary }}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
