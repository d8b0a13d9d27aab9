-- A number for every combination of keys, when the keys are too many to be packed into one integer.
-- in: keyed (k1..), keys [(alias, size)]    out: k1.., g    grain: group
with found as (
    select distinct
        {% for alias, size in keys %}
        {{ alias }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from {{ keyed }}
)
select
    {% for alias, size in keys %}
    {{ alias }},
    {% endfor %}
    cast(
        row_number() over (
            order by
                {% for alias, size in keys %}
                {{ alias }}{% if not loop.last %},{% endif %}

                {% endfor %}
        ) as bigint
    ) as g
from found
