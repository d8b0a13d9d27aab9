-- The labels of a population's values, as codes that it shares with the table: one statement for all columns. A label of
-- both is the code it has in the table; any other is the code of a value of the population, above all codes of the table.
-- in: columns [(ours, theirs: (code, n_rows, l0..lH), a query or a relation; above (codes of the table are below it),
--     height)], highest (the largest height)
-- out: position, code (of the population), n_rows, number, is_number (both 0), is_mapped, c0..
--      grain: column, value of the population
{% for ours, theirs, above, height in columns %}
select
    cast({{ loop.index0 }} as bigint) as position,
    u.code - {{ above }} as code,
    u.n_rows,
    cast(0 as double) as number,
    0 as is_number,
    u.is_mapped
    {% for level in range(highest + 1) %},
    {% if level > height %}
    u.code as c{{ level }}
    {% else %}
    u.c{{ level }}
    {% endif %}
    {% endfor %}

from (
    select
        v.code,
        v.n_rows,
        case
            when
                v.code <> {{ above }}
                and (
                    1 = 0
                    {% for level in range(1, height + 1) %}
                    or v.l{{ level }} is null
                    {% endfor %}
                )
                then 0
            else 1
        end as is_mapped
        {% for level in range(height + 1) %},
        min(v.code) over (partition by v.l{{ level }}) as c{{ level }}
        {% endfor %}

    from (
        {% for labels, before in ((ours, 0), (theirs, above)) %}
        select
            code + {{ before }} as code,
            n_rows,
            cast(l0 as varchar) as l0
            {% for level in range(1, height + 1) %},
            l{{ level }}
            {% endfor %}

        from {{ labels }} as labels_{{ loop.index }}
        {% if loop.first %}
        union all
        {% endif %}
        {% endfor %}
    ) as v
) as u
where u.code >= {{ above }}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
