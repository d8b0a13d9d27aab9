{#
A compiler error unless a hierarchy is one kind in the words of privacy.yml, with levels; a tree has a label of every
level for every value, and no label under two.
#}
{% macro refuse_hierarchy(where, recipe) %}
{%- set words = ["keep_or_drop", "as_is"] -%}
{%- set listed = ["intervals", "mask", "dates", "breaks"] -%}
{%- if recipe is mapping -%}
{%- set kinds = recipe.keys() | reject("in", ["origin", "clip"]) | list -%}
{{ privacy_sql.refuse_unless(
    kinds | length == 1 and kinds[0] in listed + words + ["tree"] and (("origin" not in recipe and "clip" not in recipe) or "intervals" in recipe),
    where, "a hierarchy is one of intervals (with origin and clip), mask, dates, breaks, tree, keep_or_drop"
) }}
{%- set levels = recipe[kinds[0]] -%}
{{ privacy_sql.refuse_unless(
    kinds[0] not in listed or ((levels or "clip" in recipe) and levels is not string and levels is not mapping and levels is iterable),
    where, "a hierarchy lists its levels"
) }}
{%- if kinds[0] == "tree" -%}
{{ privacy_sql.refuse_tree(where, levels) }}
{%- elif kinds[0] == "intervals" -%}
{{ privacy_sql.refuse_numbers(where, levels) }}
{{ privacy_sql.refuse_numbers(where, [recipe.get("origin", 0)]) }}
{%- set clip = recipe.get("clip", {}) -%}
{{ privacy_sql.refuse_unless(
    clip is mapping and clip.keys() | reject("in", ["bottom", "top"]) | list == [] and ("clip" not in recipe or clip),
    where, "clip names a bottom, a top or both"
) }}
{{ privacy_sql.refuse_numbers(where, [clip.get("bottom"), clip.get("top")] | reject("none") | list) }}
{%- elif kinds[0] == "breaks" -%}
{%- for cuts in levels -%}
{{ privacy_sql.refuse_unless(
    cuts and cuts is not string and cuts is not mapping and cuts is iterable, where, "breaks are a list of cut points per level"
) }}
{{ privacy_sql.refuse_numbers(where, cuts) }}
{%- endfor -%}
{%- elif kinds[0] == "mask" -%}
{{ privacy_sql.refuse_unless(
    levels | reject("integer") | list == [] and levels | min >= 0, where, "a mask lists how many characters are kept"
) }}
{%- elif kinds[0] == "dates" -%}
{{ privacy_sql.refuse_unless(
    levels | reject("in", ["day", "month", "quarter", "year", "five_years", "decade"]) | list == [],
    where, "dates are day, month, quarter, year, five_years or decade"
) }}
{%- else -%}
{{ privacy_sql.refuse_unless(kinds[0] in words, where, "a hierarchy is keep_or_drop, or a kind with its levels") }}
{%- endif -%}
{%- else -%}
{{ privacy_sql.refuse_unless(recipe in words, where, "a hierarchy is keep_or_drop, or a kind with its levels") }}
{%- endif -%}
{% endmacro %}
