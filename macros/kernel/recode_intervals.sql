{#
The band of equal width a number falls into. Whole widths give '20-24' and cover whole numbers only; a width
written with a decimal point gives '[20, 25)'. Everything is counted in units of the last decimal place that a
width or the origin needs, in doubles below 10^15, where whole numbers are exact.
#}
{% macro recode_intervals(column, widths, origin, level) -%}
{%- set found = namespace(decimals=0, fractions=false) -%}
{%- for parameters in [widths, [origin]] -%}
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
{%- set width = (privacy_sql.number_text(widths[level - 1]) | float * scale) | round | int -%}
{%- set start = (privacy_sql.number_text(origin) | float * scale) | round | int -%}
{%- set low = privacy_sql.band_start(column, width, start, scale) -%}
case
    when {{ privacy_sql.is_number(column) }}
        then
            case
                when
                    abs({{ privacy_sql.to_number(column) }}) < {{ 1000000000000000 // scale }}
                    {% if not found.fractions %}
                    and {{ privacy_sql.to_number(column) }} = floor({{ privacy_sql.to_number(column) }})
                    {% endif %}
                    {% if found.fractions %}
                    {% set high %}{{ low }} + {{ width }}{% endset %}
                    then
                        concat(
                            '[',
                            {{ privacy_sql.decimal_text(low, found.decimals) }},
                            ', ',
                            {{ privacy_sql.decimal_text(high, found.decimals) }},
                            ')'
                        )
                    {% elif width == 1 %}
                    then cast({{ low }} as varchar)
                    {% else %}
                    then concat(cast({{ low }} as varchar), '-', cast({{ low }} + {{ width - 1 }} as varchar))
                    {% endif %}
            end
end
{%- endmacro %}
