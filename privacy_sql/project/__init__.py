"""A folder with privacy.yml: read it, run it, propose one.

In: privacy.yml. Out: plans, and what became of each release in `target/`. Read `reading.py` first, made of
the pieces in `fields.py`, then `running.py`; `schema.py` says what privacy.yml may hold, `proposing.py`
writes one for a file with the levels of `starting_hierarchy.py`, `editing.py` changes one in place,
`hierarchy_to_fill.py` writes a file for one of its columns, `registering.py` registers what is out,
`example.py` is the project of the demo, `report_pages.py` the pages of all releases, `in_bands.py` looks for
bands of columns that are published as they are, `costliest.py` for the requirement that costs the most
detail.
"""
