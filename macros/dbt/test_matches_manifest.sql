{#
The model has exactly the rows and columns that were judged in Python: `n_rows` and `checksum` (h1 to h8) are those
under `output` in the manifest of the release. Fails with the two row counts, and for a model whose columns are unknown.
#}
{% test matches_manifest(model, columns, n_rows, checksum) %}
{{ privacy_sql.refuse_unless(
    model is not string, "matches_manifest", "`where` would leave rows unseen: the test is of the whole model"
) }}
{{ privacy_sql.refuse_columns("matches_manifest", model, columns) }}
{{ privacy_sql.refuse_unless(
    checksum is not string and checksum | length == 8 and checksum | reject("integer") | list == [],
    "matches_manifest", "checksum lists h1 to h8 of the manifest's output"
) }}
{{ privacy_sql.refuse_unless(n_rows is integer and n_rows > 0, "matches_manifest", "n_rows is that of the manifest's output") }}
{%- set found = adapter.get_columns_in_relation(model) | map(attribute="name") | list if execute else columns -%}
{%- set more = found | reject("in", columns) | list -%}
{{ privacy_sql.refuse_unless(
    not more, "matches_manifest", ["the model has columns that were not judged:", more | join(", ")] | join(" ")
) }}
with found as (
    {{ privacy_sql.fingerprint(model, columns) }}
)
select
    n_rows,
    cast({{ n_rows }} as bigint) as n_published
from found
where
    n_rows <> {{ n_rows }}
    {% if not found %}
    or 1 = 1
    {% endif %}
    {% for piece in checksum %}
    or h{{ loop.index }} <> {{ piece }}
    {% endfor %}
{% endtest %}
