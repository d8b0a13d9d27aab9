-- Size, NULLs and highest code of each column, from its dictionary.
-- in: dictionaries [(column, dictionary)]    out: position, n_values, n_nulls, top    grain: column
{% for column, dictionary in dictionaries %}
select
    cast({{ loop.index0 }} as bigint) as position,
    cast(count(*) as bigint) as n_values,
    cast(coalesce(sum(case when code = 0 then n_rows else 0 end), 0) as bigint) as n_nulls,
    cast(coalesce(max(code), 0) as bigint) as top
from {{ dictionary }}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
