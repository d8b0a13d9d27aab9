-- The source, counted once; the only statement that reads every row.
-- in: source, columns [(name, alias)], measure rows | sum | people | alike (rows that are counted already), counted (the
--     column of the measure), present (a column that is not missing) or none
-- out: the aliases, n_rows    grain: distinct combination of the columns
select
    {% for name, alias in columns %}
    {{ adapter.quote(name) }} as {{ alias }},
    {% endfor %}
    {% if measure == "sum" %}
    cast(sum({{ privacy_sql.number(adapter.quote(counted)) }}) as bigint) as n_rows
    {% elif measure == "alike" %}
    cast(sum({{ adapter.quote(counted) }}) as bigint) as n_rows
    {% elif measure == "people" %}
    cast(count(distinct {{ adapter.quote(counted) }}) as bigint) as n_rows
    {% elif measure == "rows" %}
    cast(count(*) as bigint) as n_rows
    {% else %}
    {{ privacy_sql.refuse("base", "a measure is rows, sum, people or alike") }}
    {% endif %}
from {{ source }}
{% if present is not none or measure == "sum" %}
where
    {% if present is not none %}
    {{ adapter.quote(present) }} is not null
    {% endif %}
    {% if present is not none and measure == "sum" %}
    and
    {% endif %}
    {% if measure == "sum" %}
    -- a row with a count of 0 shows no value
    {{ privacy_sql.number(adapter.quote(counted)) }} > 0
    {% endif %}
{% endif %}
{% if columns %}
group by
    {% for name, alias in columns %}
    {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endfor %}
{% endif %}
