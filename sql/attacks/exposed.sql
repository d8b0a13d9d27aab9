-- People left with so few values that an adversary is sure of one, at the start of a partition.
-- in: outcomes (person, n_people, fewest), most    out: person, n_people    grain: person
select
    person,
    n_people
from {{ outcomes }}
where fewest <= {{ most }}
