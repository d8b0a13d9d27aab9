{# A compiler error that names the test or macro; Python has its own. Used where no other branch applies. #}
{% macro refuse(where, message) -%}
{{ exceptions.raise_compiler_error([where, message] | join(": ")) }}
{%- endmacro %}
