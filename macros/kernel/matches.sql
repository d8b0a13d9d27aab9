{# Whether the text of a column, a bar set behind it, matches a pattern in quotes. #}
{% macro matches(column, pattern) -%}
{{ adapter.dispatch("matches", "privacy_sql")(column, pattern) }}
{%- endmacro %}

{% macro default__matches(column, pattern) -%}
regexp_matches(concat(cast({{ column }} as varchar), '|'), {{ pattern }})
{%- endmacro %}
