-- How often each combination of some columns of whole numbers occurs, as one whole number, which is quick to group by.
-- in: source, columns [(name, alias)], ends (low_ and high_ of each alias; one row)
-- out: packed (of each column its distance from the least number plus 1, or 0 if missing; NULL if a row has a number that
--      is not between the ends), n_rows    grain: combination
with numbered as (
    select
        {% for _ in columns[1:] %}({% endfor %}

        {% for name, alias in columns %}
        {% if not loop.first %}
        * ends.width_{{ alias }} +
        {% endif %}
        case
            when source.{{ adapter.quote(name) }} between ends.low_{{ alias }} and ends.high_{{ alias }}
                then cast(source.{{ adapter.quote(name) }} as bigint) - ends.low_{{ alias }} + 1
            when source.{{ adapter.quote(name) }} is null then 0
        end{% if not loop.first %}){% endif %}

        {% endfor %}
        as packed
    from {{ source }} as source
    cross join (
        select
            {% for name, alias in columns %}
            cast(low_{{ alias }} as bigint) as low_{{ alias }},
            cast(high_{{ alias }} as bigint) as high_{{ alias }},
            coalesce(cast(high_{{ alias }} as bigint) - cast(low_{{ alias }} as bigint), 0) + 2 as width_{{ alias }}{% if not loop.last %},{% endif %}

            {% endfor %}
        from {{ ends }}
    ) as ends
)
select
    packed,
    cast(count(*) as bigint) as n_rows
from numbered
group by packed
