{# Whether a cell is written with one more apostrophe: a formula, or apostrophes before the start of one. #}
{% macro needs_apostrophe(cell, formula, quoted) -%}
{%- set plain -%}
translate(cast({{ cell }} as varchar), chr(13), chr(9))
{%- endset -%}
(
    {{ privacy_sql.is_formula(cell, formula) }}
    or {{ privacy_sql.matches(plain, privacy_sql.literal(quoted)) }}
)
{%- endmacro %}
