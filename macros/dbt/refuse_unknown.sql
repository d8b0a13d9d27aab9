{#
A compiler error for a column that a relation does not have, with the most similar name. PostgreSQL distinguishes names
by case; elsewhere another case may be the same column, and the engine decides.
#}
{% macro refuse_unknown(where, relation, names) %}
{%- set known = fromjson(privacy_sql.columns_of(relation)) -%}
{%- set others = [] if target.type == "postgres" else known | map("lower") | list -%}
{%- for name in names if known and name not in known and name | lower not in others -%}
{%- set nearest = privacy_sql.nearest(name, known) -%}
{%- set hint = ['; did you mean "', nearest, '"?'] if nearest else [] -%}
{{ privacy_sql.refuse_unless(false, where, (['there is no column "', name, '"'] + hint) | join) }}
{%- endfor -%}
{% endmacro %}
