{#
The band of equal width a number falls into. Whole widths give '20-24' and cover whole numbers only; a width
written with a decimal point gives '[20, 25)'. Everything is counted in units of the last decimal place that a
width or the origin needs, in doubles below 10^15, where whole numbers are exact. With `clip`, level 1 shows only
which values lie below its bottom or from its top on, and the bands of the levels above end at these two.
#}
{% macro recode_intervals(column, widths, origin, level, clip={}) -%}
{%- set ends = clip.values() | reject("none") | list -%}
{%- set found = namespace(decimals=0, fractions=false) -%}
{%- for parameters in [widths, [origin], ends] -%}
{%- for parameter in parameters -%}
{%- set text = privacy_sql.number_text(parameter) -%}
{%- if '.' in (parameter if parameter is string else parameter | tojson) or '.' in text -%}
{%- set found.fractions = true -%}
{%- endif -%}
{%- if '.' in text -%}
{%- set found.decimals = [found.decimals, (text.split('.') | list | last) | length] | max -%}
{%- endif -%}
{%- endfor -%}
{%- endfor -%}
{%- set scale = 10 ** found.decimals -%}
{%- set place = level - (2 if clip else 1) -%}
{%- set bottom = clip.get('bottom') -%}
{%- set top = clip.get('top') -%}
case
    when {{ privacy_sql.is_number(column) }}
        then
            case
                {% if widths %}
                when
                    abs({{ privacy_sql.to_number(column) }}) >= {{ 1000000000000000 // scale }}
                    {% if not found.fractions %}
                    or {{ privacy_sql.to_number(column) }} <> floor({{ privacy_sql.to_number(column) }})
                    {% endif %}
                    then null
                {% endif %}
                {% if bottom is not none %}
                when {{ privacy_sql.to_number(column) }} < cast({{ privacy_sql.literal(privacy_sql.number_text(bottom)) }} as {{ privacy_sql.double() }})
                    then concat('<', cast({{ privacy_sql.literal(privacy_sql.number_text(bottom)) }} as varchar))
                {% endif %}
                {% if top is not none %}
                when {{ privacy_sql.to_number(column) }} >= cast({{ privacy_sql.literal(privacy_sql.number_text(top)) }} as {{ privacy_sql.double() }})
                    then concat(cast({{ privacy_sql.literal(privacy_sql.number_text(top)) }} as varchar), '+')
                {% endif %}
                {% if place < 0 or not widths %}
                else cast({{ column }} as varchar)
                {% else %}
                {% set width = (privacy_sql.number_text(widths[place]) | float * scale) | round | int %}
                {% set start = (privacy_sql.number_text(origin) | float * scale) | round | int %}
                {% set band = privacy_sql.band_start(column, width, start, scale) %}
                {% set low %}{% if bottom is none %}{{ band }}{% else %}greatest({{ band }}, {{ (privacy_sql.number_text(bottom) | float * scale) | round | int }}){% endif %}{% endset %}
                {% set high %}{% if top is none %}{{ band }} + {{ width }}{% else %}least({{ band }} + {{ width }}, {{ (privacy_sql.number_text(top) | float * scale) | round | int }}){% endif %}{% endset %}
                {% if found.fractions %}
                else
                    concat(
                        '[',
                        {{ privacy_sql.decimal_text(low, found.decimals) }},
                        ', ',
                        {{ privacy_sql.decimal_text(high, found.decimals) }},
                        ')'
                    )
                {% elif width == 1 %}
                else cast({{ low }} as varchar)
                {% elif clip %}
                when {{ high }} - {{ low }} = 1 then cast({{ low }} as varchar)
                else concat(cast({{ low }} as varchar), '-', cast({{ high }} - 1 as varchar))
                {% else %}
                else concat(cast({{ low }} as varchar), '-', cast({{ low }} + {{ width - 1 }} as varchar))
                {% endif %}
                {% endif %}
            end
end
{%- endmacro %}
