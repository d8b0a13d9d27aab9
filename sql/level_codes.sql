-- The labels of every level as small integers.
-- in: levels (code, l0..lH)    out: code, c0..cH    grain: value
select
    code,
    code as c0
    {% for level in range(1, height + 1) %},
    cast(dense_rank() over (order by l{{ level }}) as bigint) as c{{ level }}
    {% endfor %}

from {{ levels }}
