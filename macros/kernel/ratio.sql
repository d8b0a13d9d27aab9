{# A share as a double; NULL where nothing is counted, on every engine. #}
{% macro ratio(part, whole) -%}
case
    when {{ whole }} = 0 then null
    else cast({{ part }} as {{ privacy_sql.double() }}) / cast({{ whole }} as {{ privacy_sql.double() }})
end
{%- endmacro %}
