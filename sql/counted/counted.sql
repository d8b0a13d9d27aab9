-- The source counted and put into dictionary codes, with its dictionaries beside it: one pass, one relation.
-- NULL is a value of its own with code 0, so that later joins need only `=`.
-- in: counting (the counted source, as a query) or none, then counted; own [(alias, part, column)], given [(alias,
--     dictionary)] of dictionaries that exist, kept [(column, alias)]: the columns of values
-- out: part (0: combinations; else the number of a dictionary), code (of a dictionary), n_rows, the aliases as codes
--      (part 0), the columns of values (dictionaries)    grain: combination, and value of each dictionary
{% set aliases = own | map(attribute=0) | list + given | map(attribute=0) | list %}
with
{% if counting is not none %}
counted as (
{{ counting }}
),
{% endif %}
{% for alias, part, column in own %}
d_{{ alias }} as (
    select
        case
            when {{ alias }} is null then cast(0 as bigint)
            else cast(row_number() over (order by {{ alias }}) as bigint)
        end as code,
        {{ alias }} as value,
        cast(sum(n_rows) as bigint) as n_rows
    from {{ counted }}
    group by {{ alias }}
),
{% endfor %}
coded as (
    select
        {% for alias in aliases %}
        coalesce(d_{{ alias }}.code, cast(0 as bigint)) as {{ alias }},
        {% endfor %}
        {% for column, alias in kept %}
        -- NULL, in the type of the values
        case when 1 = 0 then counted.{{ alias }} end as {{ column }},
        {% endfor %}
        counted.n_rows
    from {{ counted }} as counted
    {% for alias, part, column in own %}
    left join d_{{ alias }} as d_{{ alias }}
        on counted.{{ alias }} = d_{{ alias }}.value
    {% endfor %}
    {% for alias, dictionary in given %}
    left join {{ dictionary }} as d_{{ alias }}
        on counted.{{ alias }} = d_{{ alias }}.value
    {% endfor %}
)
select
    0 as part,
    cast(0 as bigint) as code,
    n_rows{% for alias in aliases %},
    {{ alias }}{% endfor %}{% for column, alias in kept %},
    {{ column }}{% endfor %}

from coded
{% for alias, part, column in own %}
union all
select
    {{ part }} as part,
    code,
    n_rows{% for other in aliases %},
    cast(0 as bigint) as {{ other }}{% endfor %}{% for other, _ in kept %},
    {% if other == column %}value{% else %}null{% endif %} as {{ other }}{% endfor %}

from d_{{ alias }}
{% endfor %}
