"""Collections of marginals: small tables of counts that are published together.

In: a counted base. Out: the relations that criteria and views read. Read `tables.py` first, then
`columns.py`, `leaves.py` and `views.py`; `search.py` looks for a safe collection, `one_column.py` asks it of
one sensitive column, and `result.py` describes it.
"""
