"""Partitions: a table is cut into boxes as long as every box stays safe.

In: a counted base and requirements. Out: a box for each combination. Read `partitioning.py` first;
`open_boxes.py` says what it asks, `candidate_cuts.py` answers by statements and `in_memory.py` from arrays;
`positions.py` knows where values lie along a column.
"""
