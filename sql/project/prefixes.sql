-- How many different prefixes the values of a column have, by the number of characters kept.
-- in: source, column, lengths [(name, characters)]    out: one count per length, under its name    grain: one row
with found as (
    select distinct cast({{ adapter.quote(column) }} as varchar) as words
    from {{ source }}
    where {{ adapter.quote(column) }} is not null
)
select
    {% for name, length in lengths %}
    cast(count(distinct substr(words, 1, {{ length }})) as bigint) as {{ name }}{% if not loop.last %},{% endif %}

    {% endfor %}
from found
