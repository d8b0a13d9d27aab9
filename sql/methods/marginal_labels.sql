-- The labels of a column at one level, by their codes.
-- in: levels (code, value or l0..lH), codes (code, c0..cH), level    out: code, label    grain: label
{% if level == 0 %}
select
    code,
    value as label
from {{ levels }}
{% else %}
select distinct
    codes.c{{ level }} as code,
    labels.l{{ level }} as label
from {{ levels }} as labels
inner join {{ codes }} as codes
    on labels.code = codes.code
{% endif %}
