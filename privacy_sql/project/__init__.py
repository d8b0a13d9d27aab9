"""A folder with privacy.yml: read it, run it, propose one.

In: privacy.yml. Out: plans, and what became of each release in `target/`. Read `reading.py` first, then
`running.py`.
"""
