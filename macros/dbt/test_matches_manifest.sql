{#
The model holds exactly the rows that were judged in Python: `n_rows` and `checksum` (h1 to h8) are those under
`output` of the manifest of the release. Fails with the two row counts.
#}
{% test matches_manifest(model, columns, n_rows, checksum) %}
{%- if checksum | length != 8 -%}
{{ exceptions.raise_compiler_error("matches_manifest: checksum lists h1 to h8 of the manifest's output") }}
{%- endif -%}
with found as (
    {{ privacy_sql.fingerprint(model, columns) }}
)
select
    n_rows,
    cast({{ n_rows }} as bigint) as n_published
from found
where
    n_rows <> {{ n_rows }}
    {% for piece in checksum %}
    or h{{ loop.index }} <> {{ piece }}
    {% endfor %}
{% endtest %}
