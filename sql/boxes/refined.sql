-- The places to refine one by one; everything below them counts as one place, and everything above as another.
-- in: cells by band, middles (box, way, place, stop: the places from the first up to the second are refined), boxes,
-- ways [(number, place)], relaxed, told, measures
-- out: box, way, place, [c], told, measures    grain: box, way, place and what is told
with around as (
    select
        cells.box,
        cells.way,
        case
            when middles.box is null then cells.place
            when cells.place < middles.place then -1
            else middles.stop
        end as place,
        {{ privacy_sql.counted_columns(relaxed, told, measures) }}
    from {{ cells }} as cells
    left join {{ middles }} as middles
        on cells.box = middles.box
        and cells.way = middles.way
    where
        middles.box is null
        or cells.place < middles.place
        or cells.place >= middles.stop
),
along as (
    select
        boxes.box,
        middles.way,
        middles.place as first_place,
        middles.stop,
        case middles.way
            {% for number, place in ways %}
            when {{ number }} then boxes.{{ place }}
            {% endfor %}
        end as place,
        {{ privacy_sql.counted_columns(relaxed, told, measures) }}
    from {{ boxes }} as boxes
    inner join {{ middles }} as middles
        on boxes.box = middles.box
),
counted as (
    select
        box,
        way,
        place,
        {{ privacy_sql.counted_columns(relaxed, told, measures) }}
    from around
    union all
    select
        box,
        way,
        cast(place as bigint) as place,
        {{ privacy_sql.counted_columns(relaxed, told, measures) }}
    from along
    where
        place >= first_place
        and place < stop
)
{{ privacy_sql.added_up(relaxed, told, measures) }}
