"""What was recorded about a release, as one HTML file. It runs no query and judges nothing.

In: records and a manifest. Out: a page. Read `making.py` first, then `page.py`; each section is a file of
`sections/`. `recording.py` says what a run keeps for the report, `records.py` where it lies,
`audience.py` what of it the public may see.
"""
