{# Columns to group or order by, so that texts which a collation holds equal stay apart: each, and a checksum of it. #}
{% macro apart(names) %}
{{ privacy_sql.columns(names) }},
{% for name in names %}
md5(cast({{ adapter.quote(name) }} as varchar)){% if not loop.last %}, {% endif %}
{% endfor %}
{% endmacro %}
