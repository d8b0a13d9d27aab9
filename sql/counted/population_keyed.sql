-- The counted population in the codes of the published keys; people who fit no key are left out.
-- in: coded (q1.., n_rows), keys [(alias, column, matches (code, k))]    out: k1.., n_rows    grain: as coded
select
    {% for alias, column, matches in keys %}
    m_{{ alias }}.k as {{ alias }},
    {% endfor %}
    coded.n_rows
from {{ coded }} as coded
{% for alias, column, matches in keys %}
inner join {{ matches }} as m_{{ alias }}
    on coded.{{ column }} = m_{{ alias }}.code
{% endfor %}
