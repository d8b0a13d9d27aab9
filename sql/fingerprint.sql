-- A checksum of a table's rows that ignores their order: md5 of each row's text, summed in pieces of four hex
-- digits. NULL and empty text count as one, because CSV does not tell them apart.
-- in: relation, columns    out: n_rows, h1..h8    grain: one row
with hashed as (
    select
        md5(concat(
            {% for column in columns %}
            cast(length(coalesce(cast({{ adapter.quote(column) }} as varchar), '')) as varchar),
            ':',
            coalesce(cast({{ adapter.quote(column) }} as varchar), ''){% if not loop.last %},{% endif %}

            {% endfor %}
        )) as h
    from {{ relation }}
)
select
    cast(count(*) as bigint) as n_rows
    {% for piece in range(8) %},
    cast(coalesce(sum(
        {% for digit in range(4) %}
        {{ 16 ** (3 - digit) }} * (strpos('0123456789abcdef', substring(h, {{ 4 * piece + digit + 1 }}, 1)) - 1)
        {% if not loop.last %}
        +
        {% endif %}
        {% endfor %}
    ), 0) as bigint) as h{{ piece + 1 }}
    {% endfor %}

from hashed
