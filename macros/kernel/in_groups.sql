{#
The groups of people `found`, by their codes in every column; without columns all are in one group.
in: columns [(name, alias, dictionary)], members (g, the aliases)
#}
{% macro in_groups(columns, members) %}
{% if columns %}
inner join {{ members }} as members
    on
    {% for name, alias, dictionary in columns %}
    found.{{ alias }} = members.{{ alias }}
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
{% else %}
cross join {{ members }} as members
{% endif %}
{% endmacro %}
