-- The counts that a reader expects in a release whose sensitive values are permuted within each group.
-- in: candidate (g, q1.., s, n_rows), histogram (g, s, n_rows), groups (g, n_people), columns [(column, alias)]
-- out: aliases of the columns, s, n_rows    grain: group, combination of its people, value of the group
with alike as (
    select
        candidate.g,
        {% for column, _ in columns %}
        candidate.{{ column }},
        {% endfor %}
        cast(sum(candidate.n_rows) as bigint) as n_rows
    from {{ candidate }} as candidate
    group by
        {% for column, _ in columns %}
        candidate.{{ column }},
        {% endfor %}
        candidate.g
)
select
    {% for column, alias in columns %}
    alike.{{ column }} as {{ alias }},
    {% endfor %}
    histogram.s,
    cast(alike.n_rows as double) * cast(histogram.n_rows as double) / cast(groups.n_people as double) as n_rows
from alike
inner join {{ histogram }} as histogram
    on alike.g = histogram.g
inner join {{ groups }} as groups
    on alike.g = groups.g
