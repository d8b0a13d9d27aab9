{# A share as a double; NULL where nothing is counted, on every engine. #}
{% macro ratio(part, whole) -%}
case
    when {{ whole }} = 0 then null
    else cast({{ part }} as double) / cast({{ whole }} as double)
end
{%- endmacro %}
