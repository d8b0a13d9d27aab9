{# The chance that nobody of the family has the value when `known` others of their group do not (chen2008, Sec. 7.1). #}
{% macro family_chance(known, family) -%}
case
    when {{ family }} = 0 then {{ privacy_sql.decimal(1) }}
    when {{ [known, family] | sum }} > n - n_holders then {{ privacy_sql.decimal(0) }}
    else {{ privacy_sql.decimal(1) }}
    {% for member in range(family) %}
    * (n - n_holders - {{ [known, member] | sum }}) / cast(greatest(n - {{ [known, member] | sum }}, 1) as {{ privacy_sql.double() }})
    {% endfor %}
end
{%- endmacro %}
