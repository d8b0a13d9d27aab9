{#
A relation as it may be published: every quasi-identifier at its level (0, the value itself, when not named), the
sensitive column and what else is to be shown as they are. `quasi` gives each column its hierarchy in the words of
privacy.yml: {'intervals': [5, 10]}, {'mask': [4, 3, 0]}, 'keep_or_drop', {'dates': ['month', 'year']}, ...
Groups that fail a requirement of `leave_out` are left out: [['k_anonymous', {'k': 5}]], and l_diverse and t_close with
their arguments. `where` is a condition on the relation's own columns, for DuckDB and
PostgreSQL: elsewhere "a" may be a text and no column.
#}
{% macro generalise(relation, quasi, levels={}, sensitive=none, insensitive=[], leave_out=[], where=none) %}
{%- set sensitives = [] if sensitive is none else [sensitive] if sensitive is string else sensitive -%}
{%- set columns = quasi.keys() | list + sensitives + insensitive -%}
{{ privacy_sql.refuse_unless(
    where is none or target.type in ("duckdb", "postgres"),
    "generalise: where is written for DuckDB and PostgreSQL; leave the rows out in a model before this one"
) }}
{%- for name, _ in leave_out -%}
{{ privacy_sql.refuse_unless(
    name in ("k_anonymous", "l_diverse", "t_close"), "generalise: leave_out knows k_anonymous, l_diverse and t_close"
) }}
{%- endfor -%}
with recoded as (
    select
        {% for column, hierarchy in quasi.items() %}
        {{ privacy_sql.recode(adapter.quote(column), hierarchy, levels.get(column, 0)) }} as {{ adapter.quote(column) }}{% if not loop.last or columns | length > quasi | length %},{% endif %}

        {% endfor %}
        {% for column in sensitives + insensitive %}
        {{ adapter.quote(column) }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from {{ relation }}
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
{% if leave_out %}
where ps_group not in (
    {{ privacy_sql.left_out("recoded", quasi.keys() | list, sensitives | first, leave_out) }}
)
{% endif %}
{% endmacro %}
