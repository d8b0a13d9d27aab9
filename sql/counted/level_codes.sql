-- The labels of every level as codes: each label is named by the smallest code below it, so that the codes of a
-- level are codes of the column too and the same table leads from any level to any coarser one.
-- in: levels (code, l0..lH)    out: code, c0..cH    grain: value
select
    code,
    code as c0
    {% for level in range(1, height + 1) %},
    min(code) over (partition by l{{ level }}) as c{{ level }}
    {% endfor %}

from {{ levels }}
