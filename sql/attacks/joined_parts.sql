-- Two published tables of counts joined: the combinations that both allow, each with the most rows it can have.
-- in: mine, other (columns, n_rows), shared, shown [(name, side)]    out: names, n_rows    grain: combination
select
    {% for name, side in shown %}
    {{ side }}.{{ adapter.quote(name) }},
    {% endfor %}
    cast(sum(least(mine.n_rows, other.n_rows)) as bigint) as n_rows
from {{ mine }} as mine
{% if shared %}
inner join {{ other }} as other
    on
    {% for name in shared %}
    coalesce(cast(mine.{{ adapter.quote(name) }} as varchar), '')
    = coalesce(cast(other.{{ adapter.quote(name) }} as varchar), '')
    and case when mine.{{ adapter.quote(name) }} is null then 1 else 0 end
    = case when other.{{ adapter.quote(name) }} is null then 1 else 0 end
    {% if not loop.last %}
    and
    {% endif %}
    {% endfor %}
{% else %}
cross join {{ other }} as other
{% endif %}
group by
    {% for name, side in shown %}
    {{ side }}.{{ adapter.quote(name) }}{% if not loop.last %},{% endif %}

    {% endfor %}
