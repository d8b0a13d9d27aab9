{# ln(x!) of a whole number x of at least 0, by Stirling's series at x + 8: right to seven digits everywhere. #}
{% macro log_factorial(x) -%}
(
    (cast({{ x }} as double) + cast('7.5' as double)) * ln(cast({{ x }} as double) + 8)
    - (cast({{ x }} as double) + 8)
    + cast('0.91893853320467274' as double)
    + cast('1' as double) / (12 * (cast({{ x }} as double) + 8))
    - cast('1' as double) / (360 * (cast({{ x }} as double) + 8) * (cast({{ x }} as double) + 8) * (cast({{ x }} as double) + 8))
    - ln(
        (cast({{ x }} as double) + 1) * (cast({{ x }} as double) + 2) * (cast({{ x }} as double) + 3)
        * (cast({{ x }} as double) + 4) * (cast({{ x }} as double) + 5) * (cast({{ x }} as double) + 6)
        * (cast({{ x }} as double) + 7)
    )
)
{%- endmacro %}
