-- The columns that show a star somewhere, and its code.
-- in: columns [(name, dictionary)], star    out: position (of the column), code    grain: column with a star
{% for name, dictionary in columns %}
select
    {{ loop.index0 }} as position,
    code
from {{ dictionary }}
where cast(value as varchar) = {{ privacy_sql.literal(star) }}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
