{#
Groups in which an adversary reaches a breach probability of c or more for some point [values ruled out, others known,
family, c], or nearer to c than 1e-9; see criteria/privacy_skyline. One value per person. `skylines` is a list of
{'value': ..., 'points': [...]}; points with value none apply to every value that is not named.

chen2008, Theorem 2: the least of three products of a factor for the target and one for the family; `target_none` is
for a target with nobody known in their group, `target_known` for one with all known people in it.
out: g, n_rows, risk (the largest breach probability)    grain: unsafe group
#}
{% macro unsafe_privacy_skyline(relation, quasi, sensitive, skylines) %}
with histogram as (
    {{ privacy_sql.group_histogram(relation, quasi, sensitive) }}
),
placed as (
    select
        g,
        s,
        n_rows,
        row_number() over (partition by g order by n_rows desc) as place,
        cast(sum(n_rows) over (partition by g) as bigint) as n_people
    from histogram
),
{% for skyline in skylines %}
{% set number = loop.index %}
{% for point in skyline['points'] %}
held_{{ number }}_{{ loop.index }} as (
    select
        p.g,
        cast(max(p.n_people) as bigint) as n_rows,
        cast(max(p.n_people) as {{ privacy_sql.double() }}) as n,
        p.s,
        cast(max(p.n_rows) as {{ privacy_sql.double() }}) as n_holders,
        cast(
            sum(case when o.place <> p.place and o.place - case when o.place > p.place then 1 else 0 end <= {{ point[0] }} then o.n_rows else 0 end)
            as {{ privacy_sql.double() }}
        ) as n_ruled_out
    from placed as p
    inner join placed as o
        on p.g = o.g
    {% if skyline['value'] is not none %}
    where cast(p.s as varchar) = {{ privacy_sql.literal(skyline['value']) }}
    {% elif skylines | length > 1 %}
    where
        p.s is null
        or cast(p.s as varchar) not in (
            {% for other in skylines if other['value'] is not none %}
            {{ privacy_sql.literal(other['value']) }}{% if not loop.last %},{% endif %}

            {% endfor %}
        )
    {% endif %}
    group by
        p.g,
        p.s,
        p.place
),
factors_{{ number }}_{{ loop.index }} as (
    select
        g,
        n_rows,
        s,
        greatest(n - n_holders - n_ruled_out, 0) / cast(n_holders as {{ privacy_sql.double() }}) as target_none,
        greatest(n - n_holders - n_ruled_out - {{ point[1] }}, 0) / cast(n_holders as {{ privacy_sql.double() }}) as target_known,
        {{ privacy_sql.family_chance(0, point[2]) }} as family_none,
        {{ privacy_sql.family_chance(point[1], point[2]) }} as family_known,
        {{ privacy_sql.family_chance(1 + point[1], point[2]) }} as family_beside
    from held_{{ number }}_{{ loop.index }}
),
breached_{{ number }}_{{ loop.index }} as (
    select
        g,
        n_rows,
        {{ privacy_sql.decimal(1) }} / (1 + least(
            target_known * family_beside,
            target_none * min(family_known) over (partition by s),
            target_known * min(family_none) over (partition by s)
        )) as risk
    from factors_{{ number }}_{{ loop.index }}
),
{% endfor %}
{% endfor %}
breached as (
    {% for skyline in skylines %}
    {% set number = loop.index %}
    {% set last = loop.last %}
    {% for point in skyline['points'] %}
    select
        g,
        n_rows,
        risk
    from breached_{{ number }}_{{ loop.index }}
    where risk >= {{ privacy_sql.decimal(point[3]) }} - {{ privacy_sql.decimal("1e-9") }}
    {% if not last or not loop.last %}
    union all
    {% endif %}
    {% endfor %}
    {% endfor %}
)
select
    g,
    n_rows,
    max(risk) as risk
from breached
group by
    g,
    n_rows
{% endmacro %}
