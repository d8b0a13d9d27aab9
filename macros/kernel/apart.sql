{#
Columns to group or order by as a reader sees them: the text of each, and its checksum, so that texts which a collation
treats as equal stay separate. The engine's own equality takes 1.0 and 1.00, 0 and -0, 1 month and 30 days as the same.
#}
{% macro apart(names) %}
{% for name in names %}
cast({{ adapter.quote(name) }} as varchar),
md5(cast({{ adapter.quote(name) }} as varchar)){% if not loop.last %},{% endif %}

{% endfor %}
{% endmacro %}
