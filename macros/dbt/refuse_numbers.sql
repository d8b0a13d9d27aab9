{# A compiler error unless widths or cut points are numbers of up to 15 digits and 6 decimals, each above the one before. #}
{% macro refuse_numbers(where, numbers) %}
{%- set before = namespace(number=none) -%}
{%- for number in numbers -%}
{%- set text = privacy_sql.number_text(number) -%}
{%- set halves = text.split(".") | list -%}
{{ privacy_sql.refuse_unless(
    text and halves[0] | length <= 15 and (halves | length == 1 or halves[1] | length <= 6),
    where, "widths, origins and cut points are numbers, such as 5 or 0.5, with up to 6 decimals"
) }}
{{ privacy_sql.refuse_unless(
    before.number is none or text | float > before.number, where, "widths and cut points rise"
) }}
{%- set before.number = text | float -%}
{%- endfor -%}
{% endmacro %}
