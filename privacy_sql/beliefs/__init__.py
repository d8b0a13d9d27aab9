"""An adversary who studied the table: what they believe before a release and after it.

In: a counted base and a bandwidth. Out: beliefs, in arrays or in SQL. Read `beliefs.py` first, then
`studied_table.py` (what the adversary counts), `resemblance.py` (how alike two values are), `prior_chain.py`
(the prior in SQL), `own_priors.py` (beliefs that come from elsewhere), `group_posteriors.py` and
`belief_moves.py`.
"""
