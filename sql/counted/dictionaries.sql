-- The values of columns of the counted source in dictionary codes, in one relation, so that no text is written twice.
-- NULL is a value of its own with code 0, so that later joins need only `=`.
-- in: counted (the aliases, n_rows), own [(alias, part, column)], kept [(column, alias)]: the columns of values
-- out: part (the number of a dictionary), code, n_rows, the columns of values    grain: value of each dictionary
-- no row, but the type of each column of values
select
    0 as part,
    cast(0 as bigint) as code,
    n_rows{% for column, alias in kept %},
    {{ alias }} as {{ column }}{% endfor %}

from {{ counted }}
where 1 = 0
{% for alias, part, column in own %}
union all
select
    {{ part }} as part,
    case
        when {{ alias }} is null then cast(0 as bigint)
        else cast(row_number() over (order by {{ alias }}) as bigint)
    end as code,
    cast(sum(n_rows) as bigint) as n_rows{% for other, _ in kept %},
    {% if other == column %}{{ alias }}{% else %}null{% endif %} as {{ other }}{% endfor %}

from {{ counted }}
group by {{ alias }}
{% endfor %}
