"""Partitions: a table is cut into boxes as long as every box stays safe.

In: a counted base and requirements. Out: a box for each combination. Read `partitioning.py` first;
`candidate_cuts.py` has the cuts that are tried, `positions.py` where values lie along a column.
"""
