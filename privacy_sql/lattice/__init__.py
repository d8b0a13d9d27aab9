"""Levels of detail: every choice of one level for each column, judged and priced.

In: a counted base and requirements. Out: the safe choices, as `result.py` describes them. Read `search.py`
first. `in_memory.py` counts a choice from a finer one in arrays, where `packing.py` adds up and
`further_counts.py` has the population and households beside groups; `rollup.py` counts in SQL.
`suppression.py` leaves groups out, `costs.py` says what a choice loses, and `steering.py` bounds the search.
"""
