-- The group of each combination of people in a candidate of our own. Where identical people are in several groups and the
-- adversary is assumed to know which (apart), each group is a world of its own; so it is where one of their values matches
-- several of ours.
-- in: combinations (person, columns), members (g, q1..), columns [(of the people, of the members, matches (code, k,
--     n_alike) or none where both have the same codes)], apart
-- out: person, w, g    grain: person, group
select distinct
    c.person,
    {% if apart %}
    m.g + 1 as w,
    {% else %}
    {% for theirs, own, matches in columns if matches is not none %}
    {% if loop.first %}
    case
    {% endif %}
        when m_{{ own }}.n_alike > 1 then m.g + 1
    {% if loop.last %}
        else cast(0 as bigint)
    end as w,
    {% endif %}
    {% else %}
    cast(0 as bigint) as w,
    {% endfor %}
    {% endif %}
    m.g
from {{ combinations }} as c
{% for theirs, own, matches in columns %}
{% if matches is not none %}
inner join {{ matches }} as m_{{ own }}
    on c.{{ theirs }} = m_{{ own }}.code
{% endif %}
{% endfor %}
inner join {{ members }} as m
    on
    {% for theirs, own, matches in columns %}
    {% if matches is not none %}
    m_{{ own }}.k = m.{{ own }}
    {% else %}
    c.{{ theirs }} = m.{{ own }}
    {% endif %}
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
    {% if not columns %}
    1 = 1
    {% endif %}
