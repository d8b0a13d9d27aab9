{# The first place of the band that a place lies in; `band` is its width. Doubles divide whole numbers of this size exactly enough. #}
{% macro band_of() -%}
cast(floor(cast(place as {{ privacy_sql.double() }}) / cast(band as {{ privacy_sql.double() }})) * band as bigint)
{%- endmacro %}
