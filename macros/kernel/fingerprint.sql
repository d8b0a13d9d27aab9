{# A checksum of rows in any order; see sql/counted/fingerprint.sql. #}
{% macro fingerprint(relation, columns, empty_is_null=false) %}
with hashed as (
    select
        md5(concat(
            {% for column in columns %}
            {% if empty_is_null %}
            cast(length(coalesce(cast({{ adapter.quote(column) }} as varchar), '')) as varchar),
            {% else %}
            coalesce(cast(length(cast({{ adapter.quote(column) }} as varchar)) as varchar), 'null'),
            {% endif %}
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
{% endmacro %}
