{#
A relation as it may be published: every quasi-identifier at its level (0, the value itself, when not named), the
sensitive column and the other shown columns unchanged. `quasi` gives each column its hierarchy in the words of
privacy.yml: {'intervals': [5, 10]}, {'mask': [4, 3, 0]}, 'keep_or_drop', {'dates': ['month', 'year']}, ...
Groups that fail a requirement of `leave_out` are left out: [['k_anonymous', {'k': 5}]], and l_diverse and t_close with
their arguments. `where` is a condition on the relation's own columns, for DuckDB and
PostgreSQL: elsewhere "a" may be a text and no column. If one value is outside its hierarchy, the result has no rows;
the test `covered` says how many there are.
#}
{% macro generalise(relation, quasi, levels={}, sensitive=none, insensitive=[], leave_out=[], where=none) %}
{%- set sensitives = [] if sensitive is none else [sensitive] if sensitive is string else sensitive -%}
{%- set columns = quasi.keys() | list + sensitives + insensitive -%}
{{ privacy_sql.refuse_columns("generalise", relation, columns) }}
{{ privacy_sql.refuse_levels(quasi, levels) }}
{{ privacy_sql.refuse_unless(
    where is none or target.type in ("duckdb", "postgres"),
    "generalise", "where is written for DuckDB and PostgreSQL; leave the rows out in a model before this one"
) }}
{%- for name, own in leave_out -%}
{{ privacy_sql.refuse_requirement("generalise", name, own) }}
{%- endfor -%}
{%- set unsure = fromjson(privacy_sql.may_be_outside(quasi)) -%}
with recoded as (
    select
        {% for column, hierarchy in quasi.items() %}
        {{ privacy_sql.recode(adapter.quote(column), hierarchy, levels.get(column, 0)) }} as {{ adapter.quote(column) }},
        {% endfor %}
        {% for column in sensitives + insensitive %}
        {{ adapter.quote(column) }},
        {% endfor %}
        case when 1 = 0{% for column in unsure %} or {{ privacy_sql.outside(column, quasi[column]) }}{% endfor %} then 1 else 0 end as ps_outside
    from (select * from {{ relation }}) as ps_source
    {% if where is not none %}
    where {{ where }}
    {% endif %}
){% if leave_out %},
numbered as (
    select
        {{ privacy_sql.columns(columns) }},
        dense_rank() over (order by {{ privacy_sql.apart(quasi.keys() | list) }}) as ps_group
    from recoded
)
{% endif %}

select {{ privacy_sql.columns(columns) }}
from {{ "numbered" if leave_out else "recoded" }}
where
    (select max(ps_outside) from recoded) = 0
    {% if leave_out %}
    and ps_group not in (
        {{ privacy_sql.left_out("recoded", quasi.keys() | list, sensitives | first, leave_out) }}
    )
    {% endif %}
{% endmacro %}
