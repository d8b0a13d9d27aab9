{#
The marginals with the sensitive attribute, joined along their junction tree over what they share (the sensitive
value always among it). Aliases m1, m2, ... in tree order; d2, ... their separators where `separators` asks for them.
#}
{% macro join_cliques(cliques, separators) %}
from {{ cliques[0].relation }} as m1
{% for clique in cliques[1:] %}
inner join {{ clique.relation }} as m{{ loop.index + 1 }}
    on
    {% set here = loop.index + 1 %}
    {% for column in clique.shared %}
    m{{ clique.parent + 1 }}.{{ column }} = m{{ here }}.{{ column }}
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
{% if separators %}
inner join {{ clique.separator }} as d{{ here }}
    on
    {% for column in clique.shared %}
    m{{ here }}.{{ column }} = d{{ here }}.{{ column }}
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
{% endif %}
{% endfor %}
{% endmacro %}
