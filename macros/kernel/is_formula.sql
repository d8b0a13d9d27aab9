{#
Whether a spreadsheet may take a cell of a CSV file for a formula: by its first character, unless it is a number. A
carriage return counts as a tab, because no statement should contain one.
#}
{% macro is_formula(cell, formula) -%}
{%- set plain -%}
translate(cast({{ cell }} as varchar), chr(13), chr(9))
{%- endset -%}
({{ privacy_sql.matches(plain, privacy_sql.literal(formula)) }} and not {{ privacy_sql.is_number(plain) }})
{%- endmacro %}
