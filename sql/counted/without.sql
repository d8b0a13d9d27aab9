-- A counted relation without the groups that are left out.
-- in: relation (g, columns), gone (g)    out: g, columns    grain: as relation
select
    kept.g
    {% for column in columns %},
    kept.{{ column }}
    {% endfor %}

from {{ relation }} as kept
left join {{ gone }} as gone
    on kept.g = gone.g
where gone.g is null
