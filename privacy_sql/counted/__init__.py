"""The user's rows reduced, in SQL, to counts; everything after this room works on counts.

In: a table and an engine. Out: a `Base`, and groupings of it. Read `base.py` first, then `counting.py`, which
counts a source, and `grouping.py`, which counts groups (`sql/counted/groups.sql`); `groups.py` has the same
groups as arrays. `levels.py` has the labels of hierarchies, `people.py` the rows of one person,
`population.py` the groups that a population fits, `further_column.py` a column beside the counted ones,
`households.py` the households in groups, `fingerprints.py` checksums of rows, and `profiling.py` each column
by itself.
"""
