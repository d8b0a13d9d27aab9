-- The part of its box each combination would lie in: below or above the cut of an ordered axis, else its node.
-- in: chosen (c, box, ordered, place, size, middle, n_people), split median | middle, relaxed
-- out: c, box, part, n_people    grain: combination
{% if relaxed %}
with running as (
    select
        c,
        box,
        ordered,
        place,
        n_people,
        cast(sum(n_people) over (partition by box order by place, c rows between unbounded preceding and current row) as bigint) as n_so_far,
        cast(sum(n_people) over (partition by box) as bigint) as n_all
    from {{ chosen }}
)
select
    c,
    box,
    case
        when ordered = 0 then place
        when 2 * n_so_far - n_people < n_all then cast(0 as bigint)
        else cast(1 as bigint)
    end as part,
    n_people
from running
{% else %}
with along as (
    select
        box,
        place,
        min(size) as size,
        min(middle) as middle,
        cast(sum(n_people) as bigint) as n_people
    from {{ chosen }}
    where ordered = 1
    group by
        box,
        place
),
running as (
    select
        box,
        place,
        size,
        middle,
        cast(sum(n_people) over (partition by box order by place rows between unbounded preceding and current row) as bigint) as n_so_far,
        cast(sum(n_people) over (partition by box) as bigint) as n_all
    from along
),
ranked as (
    select
        box,
        place,
        row_number() over (
            partition by box
            {% if split == "middle" %}
            order by case when size is null or size <= middle then 0 else 1 end, place desc
            {% else %}
            order by abs(2 * n_so_far - n_all), place
            {% endif %}
        ) as choice
    from running
    where n_so_far < n_all
)
select
    chosen.c,
    chosen.box,
    case
        when chosen.ordered = 0 then chosen.place
        when chosen.place <= ranked.place then cast(0 as bigint)
        else cast(1 as bigint)
    end as part,
    chosen.n_people
from {{ chosen }} as chosen
left join ranked
    on chosen.box = ranked.box
    and ranked.choice = 1
{% endif %}
