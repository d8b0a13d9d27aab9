{# ln(x!) of a double x that is a whole number of at least 0, by Stirling's series at x + 8: right to seven digits. #}
{% macro log_factorial(x) -%}
(
    ({{ x }} + cast('7.5' as double)) * ln({{ x }} + 8) - ({{ x }} + 8)
    + cast('0.91893853320467274' as double)
    + cast('1' as double) / (12 * ({{ x }} + 8))
    - cast('1' as double) / (360 * ({{ x }} + 8) * ({{ x }} + 8) * ({{ x }} + 8))
    - ln(
        ({{ x }} + 1) * ({{ x }} + 2) * ({{ x }} + 3) * ({{ x }} + 4) * ({{ x }} + 5) * ({{ x }} + 6) * ({{ x }} + 7)
    )
)
{%- endmacro %}
