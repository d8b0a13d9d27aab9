{#
The name most like another, ignoring case: the one that shares the largest part of the letters and pairs of letters of
both, at least half. Nothing when none shares that much.
#}
{% macro nearest(name, names) -%}
{%- set wanted = fromjson(privacy_sql.pieces(name)) -%}
{%- set best = namespace(name="", part=0.5) -%}
{%- for known in names -%}
{%- set found = fromjson(privacy_sql.pieces(known)) -%}
{%- set shared = namespace(pieces=0) -%}
{%- for piece in wanted | unique(case_sensitive=true) -%}
{%- set often = [wanted | select("equalto", piece) | list | length, found | select("equalto", piece) | list | length] -%}
{%- set shared.pieces = shared.pieces + often | min -%}
{%- endfor -%}
{%- set part = 2 * shared.pieces / (wanted | length + found | length) -%}
{%- if part >= best.part -%}
{%- set best.name = known -%}
{%- set best.part = part -%}
{%- endif -%}
{%- endfor -%}
{{ best.name }}
{%- endmacro %}
