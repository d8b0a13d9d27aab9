-- How many people share the labels of each set of columns, and how often the most common value occurs among them.
-- in: counted (g, k1.., s where a share is asked, n_rows), sets [(number, columns, k, share a little lower)],
--     of_values: whether a share is asked, below: whether groups are named
-- out: set_number, n_people, n_top (0 where no share is asked), n_groups    grain: set and size
-- below: g, n_people, is_small (whether for its size) of the groups with people below a limit    grain: group
with
{% for number, columns, k, share in sets %}
{% if of_values %}
values_{{ number }} as (
    select
        {{ privacy_sql.columns(columns) }},
        cast(sum(n_rows) as bigint) as n_rows
    from {{ counted }}
    group by
        {{ privacy_sql.columns(columns) }},
        s
),
{% endif %}
cells_{{ number }} as (
    select
        {{ privacy_sql.columns(columns) }},
        cast(sum(n_rows) as bigint) as n_people,
        {% if of_values %}
        max(n_rows) as n_top
        {% else %}
        cast(0 as bigint) as n_top
        {% endif %}
    from {% if of_values %}values_{{ number }}{% else %}{{ counted }}{% endif %}

    group by {{ privacy_sql.columns(columns) }}
){% if below or not loop.last %},{% endif %}

{% endfor %}
{% if below %}
failing as (
    {% for number, columns, k, share in sets %}
    select
        c.g,
        max(case when p.n_people < {{ k }} then 1 else 0 end) as is_small
    from {{ counted }} as c
    inner join cells_{{ number }} as p
        on {% for column in columns %}c.{{ column }} = p.{{ column }}{% if not loop.last %} and {% endif %}{% endfor %}

    where
        p.n_people < {{ k }}
        {% if share is not none %}
        or cast(p.n_top as double) / cast(p.n_people as double) > cast({{ privacy_sql.literal(share) }} as double)
        {% endif %}
    group by c.g
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
named as (
    select
        g,
        max(is_small) as is_small
    from failing
    group by g
)
select
    n.g,
    n.is_small,
    cast(sum(c.n_rows) as bigint) as n_people
from named as n
inner join {{ counted }} as c
    on n.g = c.g
group by
    n.g,
    n.is_small
{% else %}
{% for number, columns, k, share in sets %}
select
    {{ number }} as set_number,
    n_people,
    max(n_top) as n_top,
    cast(count(*) as bigint) as n_groups
from cells_{{ number }}
group by n_people
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
{% endif %}
