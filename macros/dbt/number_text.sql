{#
A number as labels write it: 0.3 for 0.30, 3e-1 and +0.3; nothing for text that is not a number. Python has its own, in
hierarchies/numeric.py, so that labels from dbt and from a run read the same.
#}
{% macro number_text(value) -%}
{%- if value is string or (value is number and value is not boolean) -%}
{%- set text = (value if value is string else value | tojson) | trim | lower -%}
{%- set halves = (text[1:] if text[:1] in ["+", "-"] else text).split("e") | list -%}
{%- set mantissa = halves[0].split(".") | list -%}
{%- set whole = mantissa[0] -%}
{%- set part = mantissa[1] if mantissa | length == 2 else "" -%}
{%- set power = halves[1] if halves | length == 2 else "0" -%}
{%- set steps = power[1:] if power[:1] in ["+", "-"] else power -%}
{%- set strange = [whole, part, steps] | join | list | reject("in", "0123456789" | list) | list -%}
{%- set shaped = halves | length <= 2 and mantissa | length <= 2 and (part or mantissa | length == 1) -%}
{%- if shaped and whole and steps and steps | length <= 2 and strange == [] -%}
{%- set zeros -%}
{%- for _ in range(steps | int) -%}0{%- endfor -%}
{%- endset -%}
{%- set down = power[:1] == "-" -%}
{%- set digits = [zeros, whole, part] | join if down else [whole, part, zeros] | join -%}
{%- set point = whole | length if down else whole | length + steps | int -%}
{%- set above = digits[:point].lstrip("0") -%}
{%- set below = digits[point:].rstrip("0") -%}
{{ "-" if text[:1] == "-" and (above or below) }}{{ above or "0" }}{{ "." if below }}{{ below }}
{%- endif -%}
{%- endif -%}
{%- endmacro %}
