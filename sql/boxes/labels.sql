-- What is published of each box: along an ordered axis one value, a range, or * where NULL is among others; along a
-- hierarchy the lowest node above all its values; for a column that is published unchanged the box's single value, as a code.
-- A node has the smallest code below it, so its label is found by that code.
-- in: reach (box, lo, hi), columns [(column, kind, ...)]: ordered (axis (code, place, size), dictionary (code, value), numeric),
--     node (levels (code, l0..), none, height), known (final (c, g), members (g as combination, q1..))
-- out: g, label_q1..    grain: box
{% set named = columns | rejectattr(1, "equalto", "node") | list %}
{% if named %}
with
{% endif %}
{% for column, kind, one, other, more in named %}
{% if kind == "ordered" %}
named_{{ column }} as (
    select
        axis.place,
        min(cast(d.value as varchar)) as label,
        {% if more %}
        max(case when axis.size = floor(axis.size) then 0 else 1 end) as fraction
        {% else %}
        0 as fraction
        {% endif %}

    from {{ one }} as axis
    inner join {{ other }} as d
        on axis.code = d.code
    group by axis.place
){% if not loop.last %},{% endif %}

{% elif kind == "known" %}
named_{{ column }} as (
    select
        final.g,
        min(members.{{ column }}) as label
    from {{ one }} as final
    inner join {{ other }} as members
        on final.c = members.g
    group by final.g
){% if not loop.last %},{% endif %}

{% else %}
{{ privacy_sql.refuse("labels", "a column is ordered, node or known") }}
{% endif %}
{% endfor %}
select
    reach.box as g,
    {% for column, kind, one, other, more in columns %}
    {% if kind == "ordered" %}
    case
        when reach.lo_{{ column }} = reach.hi_{{ column }} then low_{{ column }}.label
        when reach.lo_{{ column }} = 0 then '*'
        {% if more %}
        when low_{{ column }}.fraction + high_{{ column }}.fraction = 0
            then concat(low_{{ column }}.label, '-', high_{{ column }}.label)
        else concat('[', low_{{ column }}.label, ', ', high_{{ column }}.label, ']')
        {% else %}
        else concat(low_{{ column }}.label, '..', high_{{ column }}.label)
        {% endif %}
    end as label_{{ column }}{% if not loop.last %},{% endif %}

    {% elif kind == "node" %}
    case
        {% for level in range(more) %}
        when reach.lo_{{ column }}_{{ level }} = reach.hi_{{ column }}_{{ level }}
            then cast(node_{{ column }}.l{{ level }} as varchar)
        {% endfor %}
        else '*'
    end as label_{{ column }}{% if not loop.last %},{% endif %}

    {% elif kind == "known" %}
    named_{{ column }}.label as label_{{ column }}{% if not loop.last %},{% endif %}

    {% else %}
    {{ privacy_sql.refuse("labels", "a column is ordered, node or known") }}
    {% endif %}
    {% endfor %}
from {{ reach }} as reach
-- every box has labels, so inner joins would do; left joins to short tables save the engine the search for the best order
-- of so many joins, and an ordered column may have as many places as there are people
{% for column, kind, one, other, more in columns %}
{% if kind == "ordered" %}
inner join named_{{ column }} as low_{{ column }}
    on reach.lo_{{ column }} = low_{{ column }}.place
inner join named_{{ column }} as high_{{ column }}
    on reach.hi_{{ column }} = high_{{ column }}.place
{% elif kind == "node" %}
left join {{ one }} as node_{{ column }}
    on node_{{ column }}.code = case
        {% for level in range(more) %}
        when reach.lo_{{ column }}_{{ level }} = reach.hi_{{ column }}_{{ level }}
            then reach.lo_{{ column }}_{{ level }}
        {% endfor %}
    end
{% elif kind == "known" %}
left join named_{{ column }}
    on reach.box = named_{{ column }}.g
{% else %}
{{ privacy_sql.refuse("labels", "a column is ordered, node or known") }}
{% endif %}
{% endfor %}
