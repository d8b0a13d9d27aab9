{#
Somebody who knows at most l values that the target does not have, k other people and m members of the target's family
is less than c sure, for every point [l, k, m, c]. `per_value` gives sensitive values points of their own; a value that
does not occur fails, as it may be misspelt. A row is a person.
#}
{% test skyline_safe(model, sensitive, quasi, points=[], per_value={}) %}
{{ privacy_sql.refuse_columns("skyline_safe", model, quasi, sensitive) }}
{%- set general = [{"value": none, "points": points}] if points else [] -%}
{%- set all = namespace(skylines=general) -%}
{%- for value, own in per_value.items() -%}
{{ privacy_sql.refuse_unless(value is not none, "skyline_safe", "per_value names values; points hold for NULL") }}
{%- set all.skylines = all.skylines + [{"value": value, "points": own}] -%}
{%- endfor -%}
{%- set skylines = all.skylines -%}
{{ privacy_sql.refuse_unless(skylines, "skyline_safe", "points or per_value are missing") }}
{%- for skyline in skylines -%}
{{ privacy_sql.refuse_unless(skyline["points"], "skyline_safe", "a value of per_value has no points") }}
{%- for point in skyline["points"] -%}
{{ privacy_sql.refuse_unless(
    point | length == 4 and point[:3] | reject("integer") | list == [] and point[:3] | min >= 0 and point[2] <= 50,
    "skyline_safe", "a point is [values ruled out, others known, family, c], in SQL with a family of at most 50"
) }}
{%- set c = privacy_sql.number_text(point[3]) -%}
{{ privacy_sql.refuse_unless(c and c | float > 0 and c | float <= 1, "skyline_safe", "c is a number above 0 and at most 1") }}
{%- endfor -%}
{%- endfor -%}
{%- set rows = privacy_sql.picked(model, quasi + [sensitive]) -%}
{{ privacy_sql.reported(rows, privacy_sql.unsafe_privacy_skyline(rows, quasi, sensitive, skylines), sensitive) }}
{%- for value in per_value %}
union all
select
    cast(0 as bigint) as n_rows,
    cast(1 as bigint) as n_groups,
    {{ privacy_sql.decimal(1) }} as risk
where not exists (
    select 1
    from {{ rows }}
    where md5(cast({{ adapter.quote(sensitive) }} as varchar)) = md5({{ privacy_sql.literal(value) }})
)
{%- endfor %}
{% endtest %}
