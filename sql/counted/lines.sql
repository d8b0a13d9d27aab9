-- The source as it is published where a person may have several values: repeated rows are left out.
-- A person has one line for each value (`set`) or each occurrence of one, and a single line if they have no value.
-- in: source, columns, identifier, sensitive (or none), repeats (occurrences stay)    out: columns    grain: line
with numbered as (
    select
        {% for name in columns %}
        {{ adapter.quote(name) }} as c{{ loop.index }},
        {% endfor %}
        {% if sensitive is not none %}
        {{ adapter.quote(sensitive) }} as ps_value,
        count({{ adapter.quote(sensitive) }}) over (partition by {{ adapter.quote(identifier) }}) as ps_values,
        {% endif %}
        row_number() over (
            partition by
                {{ adapter.quote(identifier) }}
                {% if sensitive is not none %},
                {{ adapter.quote(sensitive) }}
                {% endif %}

            order by {{ adapter.quote(identifier) }}
        ) as ps_place
    from {{ source }}
)
select
    {% for name in columns %}
    c{{ loop.index }} as {{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endfor %}
from numbered
where
    {% if sensitive is none %}
    ps_place = 1
    {% elif repeats %}
    ps_value is not null
    or (ps_values = 0 and ps_place = 1)
    {% else %}
    ps_place = 1
    and (ps_value is not null or ps_values = 0)
    {% endif %}
