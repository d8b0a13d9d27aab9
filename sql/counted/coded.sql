-- The source rows with the codes of their quasi-identifiers: the start of every published view.
-- in: source, quasi [(name, alias, dictionary)], others [(name, alias)]
-- out: q1.. codes, r1.. raw values, the other aliases    grain: row
select
    {% for name, alias, dictionary in quasi %}
    coalesce(d_{{ alias }}.code, cast(0 as bigint)) as {{ alias }},
    source.{{ adapter.quote(name) }} as r_{{ alias }}{% if others or not loop.last %},{% endif %}

    {% endfor %}
    {% for name, alias in others %}
    source.{{ adapter.quote(name) }} as {{ alias }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ source }} as source
{% for name, alias, dictionary in quasi %}
left join {{ dictionary }} as d_{{ alias }}
    on source.{{ adapter.quote(name) }} = d_{{ alias }}.value
{% endfor %}
