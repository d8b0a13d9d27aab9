"""What was recorded about a release, as one HTML file. It judges nothing.

In: records, a manifest, and the published rows it is about. Out: a page. Read `making.py` first, then
`page.py`; each section is a file of `sections/`. `recording.py` says what a run keeps for the report,
`describing.py` what a report reads in the published rows, `records.py` where all that lies, `audience.py`
what of it the public may see, `words.py` how numbers and levels are said, `invented.py` rows in the shape of
a release that nobody has. `changes.py` compares a release with the one it replaced, and `named.py` names
worst cases where somebody asks for it. `verdict.py` says the verdict in a sentence, `numbering.py` which
value it is about. `charts.py` has charts as numbers, `drawing.py` their places on the page, `static.py` their
pictures; `bars.py`, `crowds.py` and `near_widths.py` count what some show.
"""
