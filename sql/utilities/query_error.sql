-- The answers of counting queries from counts: every row counts with the share of its label that a query includes.
-- in: counted (columns, s, n_rows), shares [(column, relation (query, code, share))], wanted (query, code)
-- out: query, answer    grain: query that meets any row
with told as (
    select
        {% for column, _ in shares %}
        {{ column }},
        {% endfor %}
        s,
        cast(sum(n_rows) as double) as n_rows
    from {{ counted }}
    group by
        {% for column, _ in shares %}
        {{ column }},
        {% endfor %}
        s
)
select
    w.query,
    cast(
        sum(
            told.n_rows
            {% for column, relation in shares %}
            * t_{{ column }}.share
            {% endfor %}
        ) as double
    ) as answer
from {{ wanted }} as w
inner join told
    on w.code = told.s
{% for column, relation in shares %}
inner join {{ relation }} as t_{{ column }}
    on told.{{ column }} = t_{{ column }}.code
    and w.query = t_{{ column }}.query
{% endfor %}
group by w.query
