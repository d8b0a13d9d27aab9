"""A folder with privacy.yml: read it, run it, propose one.

In: privacy.yml. Out: plans, and what became of each release in `target/`. Read `reading.py` first, then
`running.py`; `schema.py` says what privacy.yml may hold, `proposing.py` writes one for a file,
`hierarchy_to_fill.py` a hierarchy for one of
its columns, `example.py` the project of the demo, `report_pages.py` the pages of all releases.
"""
