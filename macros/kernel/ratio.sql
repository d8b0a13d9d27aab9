{# A share as a double; NULL where the denominator is 0, on every engine. #}
{% macro ratio(part, whole) -%}
case
    when {{ whole }} = 0 then null
    else cast({{ part }} as {{ privacy_sql.double() }}) / cast({{ whole }} as {{ privacy_sql.double() }})
end
{%- endmacro %}
