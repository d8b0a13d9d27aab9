-- How many people each box has at each place along each way it might be cut, with the columns `told`. If banded, a band
-- of places counts as its first place, and no band is split yet.
-- in: boxes, asked (box, way, band), ways [(number, place)], banded, relaxed, told, measures
-- out: box, way, place, [c], told, measures    grain: box, way, place and what is told
with {% if banded %}along{% else %}counted{% endif %} as (
    select
        asked.box,
        asked.way,
        {% if banded %}
        asked.band,
        {% endif %}
        case asked.way
            {% for number, place in ways %}
            when {{ number }} then boxes.{{ place }}
            {% endfor %}
        end as place,
        {% if relaxed and banded %}
        cast(0 as bigint) as c,
        {% endif %}
        {{ privacy_sql.counted_columns(relaxed and not banded, told, measures) }}
    from {{ boxes }} as boxes
    inner join (
        select
            box,
            way,
            band
        from {{ asked }}
    ) as asked
        on boxes.box = asked.box
){% if banded %},
counted as (
    select
        box,
        way,
        {{ privacy_sql.band_of() }} as place,
        {{ privacy_sql.counted_columns(relaxed, told, measures) }}
    from along
)
{% endif %}

{{ privacy_sql.added_up(relaxed, told, measures) }}
