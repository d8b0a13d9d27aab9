"""The user's rows reduced, in SQL, to counts; everything after this room works on counts.

In: a table and an engine. Out: a `Base`, and groupings of it. Read `base.py` first.
"""
