-- Each group with the combinations of quasi-identifiers in it, by name.
-- in: members (g, q1.., n_rows), columns [(alias, dictionary (code, value))]
-- out: g, n_people, q1..    grain: group, combination
select
    m.g,
    cast(sum(m.n_rows) as bigint) as n_people,
    {% for alias, dictionary in columns %}
    cast(d_{{ alias }}.value as varchar) as {{ alias }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ members }} as m
{% for alias, dictionary in columns %}
inner join {{ dictionary }} as d_{{ alias }}
    on m.{{ alias }} = d_{{ alias }}.code
{% endfor %}
group by
    m.g,
    {% for alias, dictionary in columns %}
    cast(d_{{ alias }}.value as varchar){% if not loop.last %},{% endif %}

    {% endfor %}
order by
    m.g,
    {% for alias, dictionary in columns %}
    {{ alias }}{% if not loop.last %},{% endif %}

    {% endfor %}
