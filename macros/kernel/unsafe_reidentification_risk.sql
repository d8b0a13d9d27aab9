{#
The people whose risk of re-identification is above `at_most`, as one line: how many they are, and the risk. A person's risk is 1
in the people of the group. `measure` is the mean over people (average), or the share of people with a risk above `above`.
In: relation, quasi. Out: g, n_rows, risk. Grain: relation, where it is unsafe.
#}
{% macro unsafe_reidentification_risk(relation, quasi, at_most, measure, above) %}
select
    cast(1 as bigint) as g,
    n_rows,
    cast(n_above as {{ privacy_sql.double() }}) / cast(n_rows as {{ privacy_sql.double() }}) as risk
from (
    select
        cast(sum(n_rows) as bigint) as n_rows,
        {% if measure == "average" %}
        cast(count(*) as bigint) as n_above
        {% else %}
        cast(sum(case when {{ privacy_sql.millionths(above) }} < 1000000 then n_rows else 0 end) as bigint) as n_above
        {% endif %}
    from (
        select cast(count(*) as bigint) as n_rows
        from {{ relation }}
        group by {{ privacy_sql.apart(quasi) }}
    ) as sizes
) as measured
where n_above * 1000000 > {{ privacy_sql.millionths(at_most) }}
{% endmacro %}
