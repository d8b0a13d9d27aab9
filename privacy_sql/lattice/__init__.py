"""Levels of detail: every choice of one level for each column, judged and priced.

In: a counted base and requirements. Out: the safe choices. Read `search.py` first.
"""
