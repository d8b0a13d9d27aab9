{#
A compiler error unless known_safe names sets of columns of its own, or m, and each has a limit: k of at least 2, a share of the
sensitive column, or both. More than 100 sets need Python.
#}
{% macro refuse_sets(where, quasi, m, k, share, sets, sensitive) %}
{{ privacy_sql.refuse_unless((m is none) != (sets is none), where, "give either m or sets") }}
{%- set n_sets = namespace(number=1) -%}
{%- if sets is none -%}
{{ privacy_sql.refuse_unless(m is integer and m >= 1, where, "m is a whole number of at least 1") }}
{%- for step in range([m, quasi | length] | min) -%}
{%- set n_sets.number = n_sets.number * (quasi | length - step) // (step + 1) -%}
{%- endfor -%}
{%- else -%}
{{ privacy_sql.refuse_unless(
    k == 1 and share is none and sets and sets is not string and sets is not mapping and sets is iterable,
    where, "sets are a list, each with columns and its own k and share"
) }}
{%- set n_sets.number = sets | length -%}
{%- endif -%}
{{ privacy_sql.refuse_unless(
    n_sets.number <= 100, where, "more than 100 sets need Python: publish to a table, and test matches_manifest"
) }}
{%- for each in ([{"columns": quasi, "k": k, "share": share}] if sets is none else sets) -%}
{{ privacy_sql.refuse_unless(
    each is mapping and each.keys() | reject("in", ["columns", "k", "share"]) | list == [],
    where, "a set has columns, k and share"
) }}
{%- set columns = each.get("columns") -%}
{{ privacy_sql.refuse_unless(
    columns and columns is not string and columns is not mapping and columns is iterable
    and columns | reject("in", quasi) | list == [] and columns | unique(case_sensitive=true) | list | length == columns | length,
    where, "columns of a set are columns of quasi, each once"
) }}
{%- set least = each.get("k", 1) -%}
{%- set share_text = privacy_sql.number_text(each.get("share")) -%}
{{ privacy_sql.refuse_unless(least is integer and least >= 1, where, "k is a whole number of at least 1") }}
{{ privacy_sql.refuse_unless(
    each.get("share") is none or (share_text and share_text | float > 0 and share_text | float < 1 and share_text | length <= 8),
    where, "share is a number between 0 and 1 with up to 6 decimals"
) }}
{{ privacy_sql.refuse_unless(
    least > 1 or each.get("share") is not none, where, "with k = 1 and without share nothing is required"
) }}
{{ privacy_sql.refuse_unless(
    each.get("share") is none or sensitive is not none, where, "share goes with a sensitive column"
) }}
{%- endfor -%}
{% endmacro %}
