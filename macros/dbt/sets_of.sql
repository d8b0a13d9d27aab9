{# Every set of m of the columns (of all, where there are fewer), each with k and share, as JSON. #}
{% macro sets_of(names, m, k, share) -%}
{%- set made = namespace(sets=[[]]) -%}
{%- for _ in range([m, names | length] | min) -%}
{%- set longer = namespace(sets=[]) -%}
{%- for chosen in made.sets -%}
{%- for place in range(chosen[-1] + 1 if chosen else 0, names | length) -%}
{%- set longer.sets = longer.sets + [chosen + [place]] -%}
{%- endfor -%}
{%- endfor -%}
{%- set made.sets = longer.sets -%}
{%- endfor -%}
[{%- for chosen in made.sets -%}
{"columns": [{%- for place in chosen -%}{{ tojson(names[place]) }}{% if not loop.last %}, {% endif %}{%- endfor -%}], "k": {{ k }}, "share": {{ tojson(share) }}}{% if not loop.last %}, {% endif %}
{%- endfor -%}]
{%- endmacro %}
