{# The band between two cut points, from the lower one up to but without the upper one. #}
{% macro recode_breaks(column, cuts) -%}
case
    when {{ privacy_sql.is_number(column) }}
        then
            case
                {% for cut in cuts %}
                when {{ privacy_sql.to_number(column) }} < cast({{ privacy_sql.literal(privacy_sql.number_text(cut)) }} as {{ privacy_sql.double() }})
                    {% if loop.first %}
                    then concat('<', cast({{ privacy_sql.literal(privacy_sql.number_text(cut)) }} as varchar))
                    {% else %}
                    then
                        concat(
                            '[',
                            cast({{ privacy_sql.literal(privacy_sql.number_text(loop.previtem)) }} as varchar),
                            ', ',
                            cast({{ privacy_sql.literal(privacy_sql.number_text(cut)) }} as varchar),
                            ')'
                        )
                    {% endif %}
                {% endfor %}
                else concat('>=', cast({{ privacy_sql.literal(privacy_sql.number_text(cuts | last)) }} as varchar))
            end
end
{%- endmacro %}
