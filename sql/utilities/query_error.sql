-- The answers of counting queries from counts: every row by the share of its label that each query asks for.
-- in: counted (columns, s, n_rows), shares [(column, relation (query, code, share))], wanted (query, code)
-- out: query, answer    grain: query that meets any row
select
    w.query,
    cast(
        sum(
            cast(counted.n_rows as double)
            {% for column, relation in shares %}
            * t_{{ column }}.share
            {% endfor %}
        ) as double
    ) as answer
from {{ wanted }} as w
inner join {{ counted }} as counted
    on w.code = counted.s
{% for column, relation in shares %}
inner join {{ relation }} as t_{{ column }}
    on counted.{{ column }} = t_{{ column }}.code
    and w.query = t_{{ column }}.query
{% endfor %}
group by w.query
