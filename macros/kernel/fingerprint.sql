{#
A checksum of a relation's rows in any order: md5 of each row's text, summed in pieces of four hex digits.
`alike`: equal texts look equal, so identical rows are hashed once and counted. Where a collation may treat different
texts as equal, as in a dbt table, every row is hashed. `counted`: how many rows a row of the relation represents.
#}
{% macro fingerprint(relation, columns, empty_is_null=false, alike=false, counted=none) %}
with texts as (
    select
        {% for column in columns %}
        cast({{ adapter.quote(column) }} as varchar) as c{{ loop.index }}{% if counted is not none or not loop.last %},{% endif %}

        {% endfor %}
        {% if counted is not none %}
        {{ counted }} as n
        {% endif %}
    from {{ relation }}
),
counted as (
    select
        {% for column in columns %}
        c{{ loop.index }},
        {% endfor %}
        {% if counted is not none %}
        n
        {% else %}
        {% if alike %}cast(count(*) as bigint){% else %}1{% endif %} as n
        {% endif %}
    from texts
    {% if alike and counted is none %}
    group by
        {% for column in columns %}
        c{{ loop.index }}{% if not loop.last %},{% endif %}

        {% endfor %}
    {% endif %}
),
hashed as (
    select
        n,
        md5(concat(
            {% for column in columns %}
            {% if empty_is_null %}
            cast(length(coalesce(c{{ loop.index }}, '')) as varchar),
            {% else %}
            coalesce(cast(length(c{{ loop.index }}) as varchar), 'null'),
            {% endif %}
            ':',
            coalesce(c{{ loop.index }}, ''){% if not loop.last %},{% endif %}

            {% endfor %}
        )) as h
    from counted
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
