-- What a release says by the contents of its groups and, about other people, by its labels. Its groups by labels are other
-- groups, so they get other numbers.
-- in: by_contents and by_labels (columns), columns    out: columns    grain: as theirs
select {{ privacy_sql.columns(columns) }}
from {{ by_contents }}
union all
select
    {% for column in columns %}
    {% if column == 'g' %}
    -1 - g as g{% if not loop.last %},{% endif %}
    {% else %}
    {{ column }}{% if not loop.last %},{% endif %}
    {% endif %}

    {% endfor %}
from {{ by_labels }}
