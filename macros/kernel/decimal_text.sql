{# A whole number of units as a decimal with a fixed number of places: 75 and 2 places give 0.75. #}
{% macro decimal_text(units, places) -%}
{%- if places == 0 -%}
cast({{ units }} as varchar)
{%- else -%}
cast(cast({{ units }} as decimal(18, 0)) * cast('0.{% for _ in range(places - 1) %}0{% endfor %}1' as decimal({{ places + 1 }}, {{ places }})) as varchar)
{%- endif -%}
{%- endmacro %}
