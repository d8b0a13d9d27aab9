{# A share of n_rows in whole numbers of a millionth: it has up to 6 decimals. #}
{% macro millionths(share) -%}
n_rows * cast(
    floor({{ privacy_sql.decimal(share) }} * {{ privacy_sql.decimal(1000000) }} + {{ privacy_sql.decimal("0.5") }})
    as bigint
)
{%- endmacro %}
