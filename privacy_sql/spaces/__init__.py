"""What could be published, in numbers only: no SQL, no tables.

In: heights of hierarchies, sizes of columns. Out: choices and their neighbours. Read `lattice.py` first,
then `tags.py` (what is settled already); `partitions.py` and `marginal_sets.py` are the other spaces.
"""
