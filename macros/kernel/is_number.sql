{#
Whether the text of a column is a plain decimal number. The pattern is the one of hierarchies/numeric.py; what
matches casts to a double on every engine without an overflow, so no engine's error can show the value.
The bar marks the end, because `$` alone also matches before a last line break on Spark.
#}
{% macro is_number(column) -%}
{%- set pattern -%}
'^ *[+-]?([0-9]{1,40}([.][0-9]{0,40})?|[.][0-9]{1,40})([eE][+-]?[0-9]{1,2})? *[|]$'
{%- endset -%}
{{ privacy_sql.matches(column, pattern) }}
{%- endmacro %}
