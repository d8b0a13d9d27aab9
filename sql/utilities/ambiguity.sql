-- How many raw combinations each published row could have had, added up.
-- in: published (k1.., n_rows as people), leaves [(alias, relation (code, n_leaves))]    out: possible    grain: one row
select
    cast(
        coalesce(
            sum(
                cast(published.n_rows as double)
                {% for alias, relation in leaves %}
                * cast(l_{{ alias }}.n_leaves as double)
                {% endfor %}
            ),
            0
        ) as double
    ) as possible
from {{ published }} as published
{% for alias, relation in leaves %}
inner join {{ relation }} as l_{{ alias }}
    on published.{{ alias }} = l_{{ alias }}.code
{% endfor %}
