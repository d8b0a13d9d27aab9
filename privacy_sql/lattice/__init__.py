"""Levels of detail: every choice of one level for each column, judged and priced.

In: a counted base and requirements. Out: the safe choices, as `result.py` tells them. Read `search.py`
first; `rollup.py` counts a choice from a finer one, `suppression.py` leaves groups out, `costs.py`
says what a choice loses.
"""
