{# A limit as a double, `allowance` to the strict side of it: what lies within 1e-9 of a limit fails. #}
{% macro exact(limit, allowance) -%}
(cast({{ privacy_sql.literal(limit) }} as {{ privacy_sql.double() }}) + cast({{ privacy_sql.literal(allowance) }} as {{ privacy_sql.double() }}))
{%- endmacro %}
