{#
A checksum of a relation's rows in any order: md5 of each row's text, summed in pieces of four hex digits.
The words are those of row_hashes.
#}
{% macro fingerprint(relation, columns, empty_is_null=false, alike=false, counted=none) %}
with hashed as (
    {{ privacy_sql.row_hashes(relation, columns, empty_is_null, alike, counted) }}
),
-- grouped, because an engine that puts a step into the next one would hash every row once for each digit
hashes as (
    select
        h,
        cast(sum(n) as bigint) as n
    from hashed
    group by h
),
-- each piece is one line, because an engine reads and plans 32 digits for longer than it adds up a small table
pieces as (
    select
        piece,
        n,
        n * (
            {% for digit in range(4) %}
            {{ 16 ** (3 - digit) }} * (strpos('0123456789abcdef', substring(h, 4 * piece - {{ 3 - digit }}, 1)) - 1)
            {% if not loop.last %}
            +
            {% endif %}
            {% endfor %}
        ) as part
    from hashes
    cross join (values (1), (2), (3), (4), (5), (6), (7), (8)) as numbers (piece)
)
select
    cast(coalesce(sum(case when piece = 1 then n else 0 end), 0) as bigint) as n_rows
    {% for piece in range(1, 9) %},
    cast(coalesce(sum(case when piece = {{ piece }} then part else 0 end), 0) as bigint) as h{{ piece }}
    {% endfor %}

from pieces
{% endmacro %}
