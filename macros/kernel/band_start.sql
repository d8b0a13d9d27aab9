{#
Where the band of a number starts, as a bigint in units of 1/scale. A value and a bound that print the same are the
same double, yet 0.29 * 100 lies below 29: so the value is compared with the nearest unit.
#}
{% macro band_start(column, width, start, scale) -%}
{%- set units -%}
{% if scale == 1 %}
floor({{ privacy_sql.to_number(column) }})
{%- else %}
floor({{ privacy_sql.to_number(column) }} * {{ scale }} + cast('0.5' as {{ privacy_sql.double() }}))
- case
    when
        {{ privacy_sql.to_number(column) }}
        < floor({{ privacy_sql.to_number(column) }} * {{ scale }} + cast('0.5' as {{ privacy_sql.double() }})) / cast({{ scale }} as {{ privacy_sql.double() }})
        then 1
    else 0
end
{%- endif %}
{%- endset -%}
{% if start == 0 %}
cast(floor(({{ units }}) / cast({{ width }} as {{ privacy_sql.double() }})) * {{ width }} as bigint)
{%- else %}
cast(floor(({{ units }} - ({{ start }})) / cast({{ width }} as {{ privacy_sql.double() }})) * {{ width }} + ({{ start }}) as bigint)
{%- endif %}
{%- endmacro %}
