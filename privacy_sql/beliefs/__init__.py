"""An adversary who studied the table: what they believe before a release and after it.

In: a counted base and a bandwidth. Out: beliefs, in arrays or in SQL. Read `beliefs.py` first, then
`studied_table.py` (what the adversary counts), `resemblance.py` (how alike two values are),
`group_posteriors.py` and `belief_moves.py`.
"""
