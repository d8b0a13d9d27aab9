{# A compiler error that names the test or macro; Python has its own. It stands where no other branch is right. #}
{% macro refuse(where, message) -%}
{{ exceptions.raise_compiler_error([where, message] | join(": ")) }}
{%- endmacro %}
