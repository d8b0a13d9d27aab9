{# A compiler error unless a matrix gives the distance of every value from every value: 0 from itself, the same both ways. #}
{% macro refuse_matrix(where, matrix) %}
{{ privacy_sql.refuse_unless(matrix is mapping and matrix, where, "a matrix gives the distances of each value") }}
{%- for one, cells in matrix.items() -%}
{{ privacy_sql.refuse_unless(
    cells is mapping and cells | length == matrix | length and cells.keys() | reject("in", matrix.keys() | list) | list == [],
    where, "a matrix has a cell for every two values"
) }}
{%- for other, cell in cells.items() -%}
{%- set text = privacy_sql.number_text(cell) -%}
{{ privacy_sql.refuse_unless(
    text and text | float >= 0 and (one != other or text == "0") and text == privacy_sql.number_text(matrix[other][one]),
    where, "a cell of a matrix is a number of at least 0, the same both ways, and 0 from a value to itself"
) }}
{%- endfor -%}
{%- endfor -%}
{% endmacro %}
