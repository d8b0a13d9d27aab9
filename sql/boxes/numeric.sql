-- Whether every value of a column is a number, so that it can be cut by size, of several columns.
-- in: columns [(name, dictionary (code, value), ends (codes; none: all are looked at))]    out: name, n_others    grain: column
{% for name, dictionary, ends in columns %}
select
    cast('{{ name }}' as varchar) as name,
    cast(coalesce(sum(case when {{ privacy_sql.is_number(value) }} then 0 else 1 end), 0) as bigint) as n_others
from {{ dictionary }} as d
where
    d.code <> 0
    {% if ends %}
    and d.code in ({% for code in ends %}{{ code }}{% if not loop.last %}, {% endif %}{% endfor %})
    {% endif %}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
