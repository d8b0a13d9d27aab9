-- Every way to give one value to one person of a group, from either end of the group: the steps from one layer of the
-- exact posterior to the next. A vector of counts is one number, `code`, in which a value counts in steps of its `stride`.
-- in: people (g, c, n_people), histogram (g, s, n_rows, stride), prior (c, s, p), numbers (i from 0)
-- out: g, d (0: from the first person on, 1: from the last), j (their place from that end), c, last (of their kind),
--     s, stride, n_rows, p    grain: group, end, person, value
with persons as (
    select
        people.g,
        people.c,
        row_number() over (partition by people.g order by people.c, numbers.i) as j,
        row_number() over (partition by people.g order by people.c desc, numbers.i desc) as from_last,
        case when numbers.i = people.n_people - 1 then 1 else 0 end as last
    from {{ people }} as people
    inner join {{ numbers }} as numbers
        on numbers.i < people.n_people
)
{% for end in [0, 1] %}
select
    persons.g,
    {{ end }} as d,
    {% if end == 0 %}
    cast(persons.j as bigint) as j,
    {% else %}
    cast(persons.from_last as bigint) as j,
    {% endif %}
    persons.c,
    persons.last,
    histogram.s,
    histogram.stride,
    histogram.n_rows,
    prior.p
from persons
inner join {{ histogram }} as histogram
    on persons.g = histogram.g
inner join {{ prior }} as prior
    on persons.c = prior.c
    and histogram.s = prior.s
where prior.p > 0
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
