-- How many combinations each choice has, for choices that were counted together.
-- in: counted (choice)    out: choice, n_combinations    grain: choice
select
    choice,
    cast(count(*) as bigint) as n_combinations
from {{ counted }}
group by choice
