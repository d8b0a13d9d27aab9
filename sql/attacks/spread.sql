-- The range of the numbers of each column, and how many of its values are not numbers.
-- in: readable (k, exact, number)    out: k, spread (NULL: no numbers), n_words    grain: column
select
    k,
    max(number) - min(number) as spread,
    cast(sum(case when number is null then 1 else 0 end) as bigint) as n_words
from {{ readable }}
group by k
