{#
The md5 of each row's text, and how many rows it stands for: n, h.
`alike`: equal texts look equal, so identical rows are hashed once and counted. Where a collation may treat different
texts as equal, as in a dbt table, every row is hashed. `counted`: how many rows a row of the relation represents.
#}
{% macro row_hashes(relation, columns, empty_is_null=false, alike=false, counted=none) %}
with texts as (
    select
        {% for column in columns %}
        cast({{ adapter.quote(column) }} as varchar) as c{{ loop.index }}{% if counted is not none or not loop.last %},{% endif %}

        {% endfor %}
        {% if counted is not none %}
        {{ counted }} as n
        {% endif %}
    from {{ relation }}
),
counted as (
    select
        {% for column in columns %}
        c{{ loop.index }},
        {% endfor %}
        {% if counted is not none %}
        n
        {% else %}
        {% if alike %}cast(count(*) as bigint){% else %}1{% endif %} as n
        {% endif %}
    from texts
    {% if alike and counted is none %}
    group by
        {% for column in columns %}
        c{{ loop.index }}{% if not loop.last %},{% endif %}

        {% endfor %}
    {% endif %}
)
select
    n,
    md5(concat(
        {% for column in columns %}
        {% if empty_is_null %}
        cast(length(coalesce(c{{ loop.index }}, '')) as varchar),
        {% else %}
        coalesce(cast(length(c{{ loop.index }}) as varchar), 'null'),
        {% endif %}
        ':',
        coalesce(c{{ loop.index }}, ''){% if not loop.last %},{% endif %}

        {% endfor %}
    )) as h
from counted
{% endmacro %}
