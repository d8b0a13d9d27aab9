{#
A day, month, quarter, year, five years or decade, read from the text of a date or timestamp; NULL where the text is not a
day of the calendar. The pattern is that of hierarchies/dates.py; is_number explains the bar.
#}
{% macro recode_date(column, unit) -%}
{%- set pattern -%}
'^([0-9]{4}-(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|[0-9]{4}-(0[469]|11)-(0[1-9]|[12][0-9]|30)|[0-9]{4}-02-(0[1-9]|1[0-9]|2[0-8])|([0-9][0-9](0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)([ T][0-9:.+Z-]*)?[|]$'
{%- endset -%}
case
    when
        {{ privacy_sql.matches(column, pattern) }}
        then
            {% if unit == 'day' %}
            substr(cast({{ column }} as varchar), 1, 10)
            {% elif unit == 'month' %}
            substr(cast({{ column }} as varchar), 1, 7)
            {% elif unit == 'quarter' %}
            concat(
                substr(cast({{ column }} as varchar), 1, 4),
                case
                    when substr(cast({{ column }} as varchar), 6, 2) in ('01', '02', '03') then '-Q1'
                    when substr(cast({{ column }} as varchar), 6, 2) in ('04', '05', '06') then '-Q2'
                    when substr(cast({{ column }} as varchar), 6, 2) in ('07', '08', '09') then '-Q3'
                    else '-Q4'
                end
            )
            {% elif unit == 'year' %}
            substr(cast({{ column }} as varchar), 1, 4)
            {% elif unit == 'five_years' %}
            concat(
                substr(cast({{ column }} as varchar), 1, 3),
                case when substr(cast({{ column }} as varchar), 4, 1) in ('0', '1', '2', '3', '4') then '0-' else '5-' end,
                substr(cast({{ column }} as varchar), 1, 3),
                case when substr(cast({{ column }} as varchar), 4, 1) in ('0', '1', '2', '3', '4') then '4' else '9' end
            )
            {% elif unit == 'decade' %}
            concat(
                substr(cast({{ column }} as varchar), 1, 3),
                '0-',
                substr(cast({{ column }} as varchar), 1, 3),
                '9'
            )
            {% else %}
            {{ privacy_sql.refuse("dates", "units are day, month, quarter, year, five_years and decade") }}
            {% endif %}
end
{%- endmacro %}
