{# The part of a box: below (0) or above (1) the edge on an ordered axis, else the number of the node. #}
{% macro part_of(relaxed) -%}
case
    when ordered = 0 then place
    when place < edge then 0
    {% if relaxed %}
    when place = edge and c < edge_c then 0
    {% endif %}
    else 1
end
{%- endmacro %}
