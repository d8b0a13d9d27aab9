-- What the values of one column look like: how many values, and how many rows, fit each of several patterns.
-- in: source, column, as_text (whether it is no text, number or date), person (the column that says whose row it is) or
--     none, patterns [(alias, pattern, by_digit)], areas (zip3, people) or none, three_digits (their pattern), least
--     (people of one), typed and read_as (signs, and as what they are read), words, total, eleven (names)
-- out: n_present (rows with a value that is not blank), n_single and n_codes (rows and values of one person), n_area and
--      n_areas (rows and values with three digits of an area that has too few people or is not listed), per pattern its
--      alias (rows) and v_ alias (values)
-- grain: one row
{% set weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2] %}
with found as (
    select
        {% if as_text %}
        cast({{ adapter.quote(column) }} as varchar) as value,
        {% else %}
        {{ adapter.quote(column) }} as value,
        {% endif %}
        {% if person is not none %}
        cast(count(distinct {{ adapter.quote(person) }}) as bigint) as n_people,
        {% else %}
        cast(count(*) as bigint) as n_people,
        {% endif %}
        cast(count(*) as bigint) as n_rows
    from {{ source }}
    where {{ adapter.quote(column) }} is not null
    group by {% if as_text %}cast({{ adapter.quote(column) }} as varchar){% else %}{{ adapter.quote(column) }}{% endif %}

),
written as (
    select
        lower(trim(translate(cast(value as varchar), {{ typed }}, {{ read_as }}))) as words,
        n_people,
        n_rows
    from found
),
coded as (
    select
        words,
        n_people,
        n_rows,
        -- the letters of a vehicle identification number as the digits of its check sum
        translate(words, 'abcdefghjklmnprstuvwxyz', '12345678123457923456789') as digits
    from written
),
checked as (
    select
        words,
        n_people,
        n_rows,
        {% for weight in weights %}
        {{ weight }} * (strpos('0123456789', substring(digits, {{ loop.index }}, 1)) - 1){% if not loop.last %} +{% endif %}

        {% endfor %}
        as total
    from coded
),
looked_at as (
    select
        {% if areas is not none %}
        case
            when
                {{ privacy_sql.matches(words, three_digits) }}
                -- the code that replaces all small areas
                and lpad(substring(words, 1, 3), 3, '0') <> '000'
                and coalesce(areas.people, 0) < {{ least }}
                then 1
            else 0
        end as is_area,
        {% endif %}
        {% for alias, pattern, by_digit in patterns %}
        case
            when
                {{ privacy_sql.matches(words, pattern) }}
                {% if by_digit %}
                and substring(
                    '0123456789x',
                    cast(total - 11 * floor({{ privacy_sql.ratio(total, eleven) }}) as int) + 1,
                    1
                ) = substring(words, 9, 1)
                {% endif %}
                then 1
            else 0
        end as {{ alias }},
        {% endfor %}
        words,
        n_people,
        n_rows
    from checked
    {% if areas is not none %}
    left join {{ areas }} as areas
        on lpad(substring(checked.words, 1, 3), 3, '0') = areas.zip3
    {% endif %}
)
select
    {% for alias, pattern, by_digit in patterns %}
    cast(coalesce(sum({{ alias }} * n_rows), 0) as bigint) as {{ alias }},
    cast(coalesce(sum({{ alias }}), 0) as bigint) as v_{{ alias }},
    {% endfor %}
    {% if areas is not none %}
    cast(coalesce(sum(is_area * n_rows), 0) as bigint) as n_area,
    cast(coalesce(sum(is_area), 0) as bigint) as n_areas,
    {% endif %}
    cast(coalesce(sum(case when words <> '' then n_rows else 0 end), 0) as bigint) as n_present,
    cast(coalesce(sum(case when words <> '' and n_people <= 1 then n_rows else 0 end), 0) as bigint) as n_single,
    cast(coalesce(sum(case when words <> '' and n_people <= 1 then 1 else 0 end), 0) as bigint) as n_codes
from looked_at
