{#
The name most like another, letter case aside: of the letters and pairs of letters of both it shares the largest part,
at least half. Nothing when none does.
#}
{% macro nearest(name, names) -%}
{%- set wanted = fromjson(privacy_sql.pieces(name)) -%}
{%- set best = namespace(name="", part=0.5) -%}
{%- for known in names -%}
{%- set found = fromjson(privacy_sql.pieces(known)) -%}
{%- set all = wanted | length + found | length -%}
{%- for piece in wanted -%}
{%- do found.remove(piece) if piece in found -%}
{%- endfor -%}
{%- set part = 2 * (all - wanted | length - found | length) / all -%}
{%- if part >= best.part -%}
{%- set best.name = known -%}
{%- set best.part = part -%}
{%- endif -%}
{%- endfor -%}
{{ best.name }}
{%- endmacro %}
