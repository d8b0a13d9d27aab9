-- The source rows without those of some sensitive values in some groups.
-- in: rows (g, columns, s), values (code, value), removed (g, s as code), columns    out: g, columns    grain: row
select
    source.g,
    {% for column in columns %}
    source.{{ column }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ rows }} as source
left join {{ values }} as v
    on source.s = v.value
left join {{ removed }} as removed
    on
    source.g = removed.g
    and coalesce(v.code, cast(0 as bigint)) = removed.s
where removed.g is null
